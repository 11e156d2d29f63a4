// Steps that treat each row, or each number, by itself.
#include <algorithm>
#include <cstring>

#include "base/share.hpp"
#include "kernels/random.hpp"
#include "qkv/embedding.hpp"
#include "qkv/train/embedding.hpp"
#include "rows/over_rows.hpp"
#include "train/gradients/linear_gradients.hpp"
#include "train/gradients/with_kernels.hpp"
#include "train/tape/for_pieces.hpp"
#include "weights/linear_product.hpp"

namespace qkv::train {
namespace {

TensorView<const float> rows_of(const TapeArray& array) noexcept {
  return {array.value, {array.rows, array.width}};
}
TensorView<const float> gradient_of(const TapeArray& array) noexcept {
  return {array.gradient, {array.rows, array.width}};
}
/// A bias, a gain: the rows of a parameter as one.
TensorView<const float> flat(const TapeArray& array) noexcept {
  return {array.value, {array.size()}};
}
TensorView<float> flat_gradient(const Pass& pass, int i) noexcept {
  float* data = pass.has(i) ? pass.gradient(i) : nullptr;
  return data ? TensorView<float>(data, {pass.in(i).size()}) : TensorView<float>();
}

/// out = x + y for n numbers, on the threads of the pool.
void add_numbers(const Pass& pass, Index n, const float* x, const float* y, float* out) noexcept {
  add_rows(*pass.kernels.forward, pass.workspace.pool(), {.n = n, .x = x, .y = y, .out = out});
}

/// The gradient of a sum's input, where it is not in the memory of the sum's.
void pass_on(const Pass& pass, int input) noexcept {
  if (float* to = pass.gradient(input)) {
    std::copy_n(pass.out().gradient, pass.out().size(), to);
  }
}

// ------------------------------------------------------------------------------------- embedding

void scale(float* x, Index n, float factor) noexcept {
  if (factor != 1.0F) {
    std::for_each_n(x, n, [&](float& value) { value *= factor; });
  }
}

const std::int32_t* ids_of(const Pass& pass) noexcept {
  switch (pass.step.as<EmbedStep>().ids) {
    case TokenIds::kSource:
      return pass.inputs.source_ids;
    case TokenIds::kTypes:
      return pass.inputs.types;
    default:
      return pass.inputs.ids;
  }
}

Status embed_forward(const Pass& pass) noexcept {
  const TapeArray& out = pass.out();
  QKV_RETURN_IF_ERROR(embedding(rows_of(pass.in(0)), {ids_of(pass), {out.rows}},
                                {out.value, {out.rows, out.width}}));
  scale(out.value, out.size(), pass.step.as<EmbedStep>().factor);
  return {};
}

Status embed_backward(const Pass& pass) noexcept {
  if (!pass.gradient(0)) {
    return {};
  }
  const TapeArray& out = pass.out();
  QKV_RETURN_IF_ERROR(
      embedding_backward(gradient_of(out), {ids_of(pass), {out.rows}}, pass.gradient_view(0)));
  scale(pass.gradient(0), pass.in(0).size(), pass.step.as<EmbedStep>().factor);
  return {};
}

Status positions_forward(const Pass& pass) noexcept {
  const TapeArray& out = pass.out();
  const Index piece = out.size() / pass.step.batch;
  for (Index at = 0; at < out.size(); at += piece) {
    add_numbers(pass, piece, pass.in(0).value + at, pass.in(1).value, out.value + at);
  }
  return {};
}

Status positions_backward(const Pass& pass) noexcept {
  pass_on(pass, 0);
  float* to = pass.gradient(1);
  if (!to) {
    return {};
  }
  const TapeArray& out = pass.out();
  const Index piece = out.size() / pass.step.batch;
  std::fill_n(to, pass.in(1).size(), 0.0F);
  for (Index at = 0; at < out.size(); at += piece) {
    add_numbers(pass, piece, out.gradient + at, to, to);
  }
  return {};
}

// ------------------------------------------------------------------------------------------ sums

Status add_forward(const Pass& pass) noexcept {
  const TapeArray& out = pass.out();
  add_numbers(pass, out.size(), pass.in(0).value, pass.in(1).value, out.value);
  return {};
}

Status add_backward(const Pass& pass) noexcept {
  pass_on(pass, 0);
  pass_on(pass, 1);
  return {};
}

// ---------------------------------------------------------------------------------------- linear

Status linear_forward(const Pass& pass) noexcept {
  LinearArgs args;
  args.x = rows_of(pass.in(0));
  args.w = rows_of(pass.in(1));
  args.layout = pass.step.as<LinearStep>().layout;
  if (pass.has(2)) {
    args.bias = flat(pass.in(2));
  }
  args.out = {pass.out().value, {pass.out().rows, pass.out().width}};
  QKV_RETURN_IF_ERROR(pass.workspace.begin(linear_scratch(*pass.kernels.forward, args)));
  apply_linear(*pass.kernels.forward, args, pass.workspace);
  return {};
}

Status linear_back(const Pass& pass) noexcept {
  LinearBackwardArgs args;
  args.d_out = gradient_of(pass.out());
  args.x = rows_of(pass.in(0));
  args.w = rows_of(pass.in(1));
  args.layout = pass.step.as<LinearStep>().layout;
  args.dx = pass.gradient_view(0);
  args.dw = pass.gradient_view(1);
  args.d_bias = flat_gradient(pass, 2);
  QKV_RETURN_IF_ERROR(pass.workspace.begin(linear_backward_scratch(pass.kernels, args)));
  apply_linear_backward(pass.kernels, args, pass.workspace);
  return {};
}

// ------------------------------------------------------------------------------------------ norm

Status norm_forward(const Pass& pass) noexcept {
  const auto& of = pass.step.as<NormStep>();
  const Index n = pass.in(1).size();
  normalize_rows(*pass.kernels.forward, pass.workspace.pool(),
                 {.rows = pass.out().size() / n,
                  .n = n,
                  .x = pass.in(0).value,
                  .out = pass.out().value,
                  .gamma = pass.in(1).value,
                  .beta = pass.has(2) ? pass.in(2).value : nullptr,
                  .epsilon = of.epsilon,
                  .centre = of.type == NormType::kLayer});
  return {};
}

Status norm_back(const Pass& pass) noexcept {
  const auto& of = pass.step.as<NormStep>();
  const Index n = pass.in(1).size();
  const Index rows = pass.out().size() / n;
  NormBackwardArgs args;
  args.d_out = {pass.out().gradient, {rows, n}};
  args.x = {pass.in(0).value, {rows, n}};
  args.gamma = flat(pass.in(1));
  args.epsilon = of.epsilon;
  args.dx = {pass.gradient(0), {rows, n}};
  args.d_gamma = flat_gradient(pass, 1);
  args.d_beta = flat_gradient(pass, 2);
  return norm_backward(pass.kernels, of.type, args, pass.workspace);
}

// --------------------------------------------------------------------------------------- dropout

/// to = x with the numbers of this site and run dropped: which ones depends on seed, site and place alone.
void drop(const Pass& pass, const float* x, float* to) noexcept {
  const Index n = pass.out().size();
  if (!pass.inputs.dropout) {
    std::copy_n(x, n, to);
    return;
  }
  const auto [rate, site] = pass.step.as<DropoutStep>();
  const float kept = 1.0F / (1.0F - rate);
  const std::uint64_t key = kernels::mix_bits(kernels::mix_bits(pass.inputs.dropout_seed) + site);
  for_pieces(pass, [&](Index begin, Index end) noexcept {
    for (Index i = begin; i < end; ++i) {
      const std::uint64_t bits = kernels::mix_bits(key + static_cast<std::uint64_t>(i));
      const float unit = static_cast<float>(bits >> 40U) * 0x1p-24F;
      to[i] = unit < rate ? 0.0F : x[i] * kept;
    }
  });
}

Status dropout_forward(const Pass& pass) noexcept {
  drop(pass, pass.in(0).value, pass.out().value);
  return {};
}

Status dropout_back(const Pass& pass) noexcept {
  drop(pass, pass.out().gradient, pass.gradient(0));
  return {};
}

constexpr Operation kEmbed = {embed_forward, embed_backward};
constexpr Operation kPositions = {positions_forward, positions_backward};
constexpr Operation kAddition = {add_forward, add_backward, true};
constexpr Operation kLinear = {linear_forward, linear_back};
constexpr Operation kNorm = {norm_forward, norm_back};
constexpr Operation kDropout = {dropout_forward, dropout_back};

}  // namespace

ArrayId embed(Tape& tape, ArrayId table, Index rows, float factor, TokenIds ids) noexcept {
  Step step;
  step.operation = &kEmbed;
  step.in[0] = table;
  step.of = EmbedStep{ids, factor};
  return tape.record(step, rows, tape.width(table));
}

ArrayId add_positions(Tape& tape, ArrayId x, ArrayId table, Index batch) noexcept {
  Step step;
  step.operation = &kPositions;
  step.in[0] = x;
  step.in[1] = table;
  step.batch = batch;
  return tape.record(step, tape.rows(x), tape.width(x));
}

ArrayId add(Tape& tape, ArrayId x, ArrayId y) noexcept {
  Step step;
  step.operation = &kAddition;
  step.in[0] = x;
  step.in[1] = y;
  return tape.record(step, tape.rows(x), tape.width(x));
}

ArrayId linear(Tape& tape, ArrayId x, ArrayId w, ArrayId b, WeightLayout layout) noexcept {
  Step step;
  step.operation = &kLinear;
  step.in[0] = x;
  step.in[1] = w;
  step.in[2] = b;
  step.of = LinearStep{layout};
  return tape.record(step, tape.rows(x),
                     layout == WeightLayout::kOutIn ? tape.rows(w) : tape.width(w));
}

ArrayId norm(Tape& tape, ArrayId x, ArrayId gamma, ArrayId beta, NormType type,
             float epsilon) noexcept {
  Step step;
  step.operation = &kNorm;
  step.in[0] = x;
  step.in[1] = gamma;
  step.in[2] = beta;
  step.of = NormStep{type, epsilon};
  return tape.record(step, tape.rows(x), tape.width(x));
}

ArrayId dropout(Tape& tape, ArrayId x, float rate, std::uint64_t site) noexcept {
  if (rate == 0.0F) {
    return x;
  }
  return tape.record_alike(kDropout, x, DropoutStep{rate, site});
}

}  // namespace qkv::train
