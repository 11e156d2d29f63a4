// Steps that treat heads: rotary positions and attention.
#include "attention/attention_plan.hpp"
#include "kernels/random.hpp"
#include "positions/rotary_plan.hpp"
#include "train/gradients/with_kernels.hpp"
#include "train/tape/tape.hpp"

namespace qkv::train {
namespace {

/// Rows of heads side by side as [B, H, T, d].
template <class T>
TensorView<T> heads_of(T* data, const TapeArray& array, Index batch, Index heads) noexcept {
  return split_heads(data, batch, array.rows / batch, heads, array.width / heads);
}

/// From one array to the other, each in the shape of the output.
Status rotate_heads(const Pass& pass, float* from, float* to, bool inverse) noexcept {
  const auto& [heads, options] = pass.step.as<RotateStep>();
  const TensorView<const float> x = heads_of(from, pass.out(), pass.step.batch, heads);
  const TensorView<float> out = heads_of(to, pass.out(), pass.step.batch, heads);
  return turn_heads("rotate", *pass.kernels.forward, {"x", x, "out", out, inverse}, options,
                    pass.workspace);
}

Status rotate_forward(const Pass& pass) noexcept {
  return rotate_heads(pass, pass.in(0).value, pass.out().value, false);
}

Status rotate_back(const Pass& pass) noexcept {
  return rotate_heads(pass, pass.out().gradient, pass.gradient(0), true);
}

AttentionOptions options_of(const Pass& pass) noexcept {
  const auto& [of, site] = pass.step.as<AttendStep>();
  AttentionOptions options = of.options;
  options.key_lengths =
      of.keys_of == Side::kSource ? pass.inputs.source_lengths : pass.inputs.key_lengths;
  if (of.slopes != kNoArray) {
    const TapeArray& slopes = pass.tape[of.slopes];
    options.alibi_slopes = {slopes.value, {slopes.size()}};
  }
  options.dropout.rate = pass.inputs.dropout ? options.dropout.rate : 0.0F;
  options.dropout.seed = kernels::mix_bits(pass.inputs.dropout_seed) + site;
  return options;
}

AttendedHeads heads_read_by(const Tape& tape, const Step& step) noexcept {
  const TapeAttention& of = step.as<AttendStep>().attention;
  const auto view = [&](ArrayId id, Index heads) {
    return heads_of<const float>(tape[id].value, tape[id], of.batch, heads);
  };
  return {view(step.in[0], of.heads), view(step.in[1], of.kv_heads), view(step.in[2], of.kv_heads)};
}

Status compute(const Pass& pass, const AttentionExtras& extras) noexcept {
  const TapeAttention& of = pass.step.as<AttendStep>().attention;
  const AttendedHeads read = heads_read_by(pass.tape, pass.step);
  AttentionArgs args;
  args.q = read.q;
  args.k = read.k;
  args.v = read.v;
  args.out = heads_of(pass.out().value, pass.out(), of.batch, of.heads);
  args.options = options_of(pass);
  args.extras = extras;
  AttentionPlan plan;
  plan.threads = pass.workspace.threads();
  QKV_RETURN_IF_ERROR(plan_attention("attend", *pass.kernels.forward, args, plan));
  QKV_RETURN_IF_ERROR(pass.workspace.begin(plan.scratch));
  qkv::run_attention(plan, args, pass.workspace);
  return {};
}

TensorView<float> lse_of(const Pass& pass) noexcept {
  const TapeAttention& of = pass.step.as<AttendStep>().attention;
  return {pass.saved().value, {of.batch, of.heads, pass.out().rows / of.batch}};
}

Status attend_forward(const Pass& pass) noexcept {
  AttentionExtras extras;
  extras.lse = lse_of(pass);
  return compute(pass, extras);
}

Status attend_back(const Pass& pass) noexcept {
  const TapeAttention& of = pass.step.as<AttendStep>().attention;
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
  return attention_backward(pass.kernels, args, pass.workspace);
}

constexpr Operation kRotate = {rotate_forward, rotate_back};
constexpr Operation kAttend = {attend_forward, attend_back};

}  // namespace

ArrayId rotate(Tape& tape, ArrayId x, Index batch, Index heads,
               const RotaryOptions& options) noexcept {
  Step step;
  step.operation = &kRotate;
  step.in[0] = x;
  step.batch = batch;
  step.of = RotateStep{heads, options};
  return tape.record(step, tape.rows(x), tape.width(x));
}

ArrayId attend(Tape& tape, ArrayId q, ArrayId k, ArrayId v, const TapeAttention& attention,
               std::uint64_t site) noexcept {
  Step step;
  step.operation = &kAttend;
  step.in[0] = q;
  step.in[1] = k;
  step.in[2] = v;
  step.batch = attention.batch;
  step.of = AttendStep{attention, site};
  const Index width = tape.width(v) / attention.kv_heads * attention.heads;
  return tape.record(step, tape.rows(q), width,
                     detail::saturated_product(tape.rows(q), attention.heads));
}

AttendedHeads heads_read(const Tape& tape, ArrayId attended) noexcept {
  return heads_read_by(tape, tape.step_of(attended));
}

Status read_attention(const TrainKernels& kernels, const Tape& tape, ArrayId attended,
                      const TapeInputs& inputs, const AttentionExtras& extras,
                      Workspace& workspace) noexcept {
  return compute({tape, tape.step_of(attended), inputs, kernels, workspace}, extras);
}

}  // namespace qkv::train
