// Steps that treat heads: rotary positions and attention.
#include "kernels/random.hpp"
#include "qkv/train/attention.hpp"
#include "qkv/train/embedding.hpp"
#include "train/tape/tape.hpp"

namespace qkv::train {
namespace {

/// Rows of heads side by side as [B, H, T, d].
template <class T>
TensorView<T> heads_of(T* data, const TapeArray& array, Index batch, Index heads) noexcept {
  return split_heads(data, batch, array.rows / batch, heads, array.width / heads);
}

Status rotate_forward(const Pass& pass) noexcept {
  const TapeAttention& of = pass.step.attention;
  const auto view = [&](float* data) { return heads_of(data, pass.out(), of.batch, of.heads); };
  return rotary_embedding(view(pass.in(0).value), view(pass.out().value), pass.step.rotary,
                          pass.workspace);
}

Status rotate_back(const Pass& pass) noexcept {
  const TapeAttention& of = pass.step.attention;
  const auto view = [&](float* data) { return heads_of(data, pass.out(), of.batch, of.heads); };
  return rotary_embedding_backward(view(pass.out().gradient), view(pass.gradient(0)),
                                   pass.step.rotary, pass.workspace);
}

AttentionOptions options_of(const Pass& pass) noexcept {
  AttentionOptions options = pass.step.attention.options;
  options.key_lengths = pass.step.attention.keys_of == Side::kSource ? pass.inputs.source_lengths
                                                                     : pass.inputs.key_lengths;
  if (pass.step.attention.slopes != kNoArray) {
    const TapeArray& slopes = pass.tape[pass.step.attention.slopes];
    options.alibi_slopes = {slopes.value, {slopes.size()}};
  }
  options.dropout.rate = pass.inputs.dropout ? options.dropout.rate : 0.0F;
  options.dropout.seed = kernels::mix_bits(pass.inputs.dropout_seed) + pass.step.site;
  return options;
}

AttendedHeads heads_read_by(const Tape& tape, const Step& step) noexcept {
  const TapeAttention& of = step.attention;
  const auto view = [&](ArrayId id, Index heads) {
    return heads_of<const float>(tape[id].value, tape[id], of.batch, heads);
  };
  return {view(step.in[0], of.heads), view(step.in[1], of.kv_heads), view(step.in[2], of.kv_heads)};
}

Status run_attention(const Pass& pass, const AttentionExtras& extras) noexcept {
  const TapeAttention& of = pass.step.attention;
  const AttendedHeads read = heads_read_by(pass.tape, pass.step);
  AttentionArgs args;
  args.q = read.q;
  args.k = read.k;
  args.v = read.v;
  args.out = heads_of(pass.out().value, pass.out(), of.batch, of.heads);
  args.options = options_of(pass);
  args.extras = extras;
  return attention(args, pass.workspace);
}

TensorView<float> lse_of(const Pass& pass) noexcept {
  const TapeAttention& of = pass.step.attention;
  return {pass.saved().value, {of.batch, of.heads, pass.out().rows / of.batch}};
}

Status attend_forward(const Pass& pass) noexcept {
  AttentionExtras extras;
  extras.lse = lse_of(pass);
  return run_attention(pass, extras);
}

Status attend_back(const Pass& pass) noexcept {
  const TapeAttention& of = pass.step.attention;
  AttentionBackwardArgs args;
  args.d_out = heads_of<const float>(pass.out().gradient, pass.out(), of.batch, of.heads);
  const AttendedHeads read = heads_read_by(pass.tape, pass.step);
  args.q = read.q;
  args.k = read.k;
  args.v = read.v;
  args.out = heads_of<const float>(pass.out().value, pass.out(), of.batch, of.heads);
  args.lse = lse_of(pass);
  args.options = options_of(pass);
  args.dq = heads_of(pass.gradient(0), pass.in(0), of.batch, of.heads);
  args.dk = heads_of(pass.gradient(1), pass.in(1), of.batch, of.kv_heads);
  args.dv = heads_of(pass.gradient(2), pass.in(2), of.batch, of.kv_heads);
  return attention_backward(args, pass.workspace);
}

constexpr Operation kRotate = {rotate_forward, rotate_back};
constexpr Operation kAttend = {attend_forward, attend_back};

}  // namespace

ArrayId rotate(Tape& tape, ArrayId x, Index batch, Index heads,
               const RotaryOptions& options) noexcept {
  Step step;
  step.operation = &kRotate;
  step.in[0] = x;
  step.attention.batch = batch;
  step.attention.heads = heads;
  step.rotary = options;
  return tape.record(step, tape.rows(x), tape.width(x));
}

ArrayId attend(Tape& tape, ArrayId q, ArrayId k, ArrayId v, const TapeAttention& attention,
               std::uint64_t site) noexcept {
  Step step;
  step.operation = &kAttend;
  step.in[0] = q;
  step.in[1] = k;
  step.in[2] = v;
  step.attention = attention;
  step.site = site;
  const Index width = tape.width(v) / attention.kv_heads * attention.heads;
  return tape.record(step, tape.rows(q), width,
                     detail::saturated_product(tape.rows(q), attention.heads));
}

AttendedHeads heads_read(const Tape& tape, ArrayId attended) noexcept {
  return heads_read_by(tape, tape.step_of(attended));
}

Status read_attention(const Tape& tape, ArrayId attended, const TapeInputs& inputs,
                      const AttentionExtras& extras, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels("tape", kernels));
  return run_attention({tape, tape.step_of(attended), inputs, kernels, workspace}, extras);
}

}  // namespace qkv::train
