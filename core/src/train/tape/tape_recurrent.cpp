// Steps of models that read a token after another: gated recurrent units, their last states, and additive attention.
#include <algorithm>

#include "train/gradients/with_kernels.hpp"
#include "train/recurrent/projected_additive.hpp"
#include "train/tape/tape.hpp"

namespace qkv::train {
namespace {

/// Rows of all batch rows as [B, T, width].
template <class T>
TensorView<T> sequences(T* data, const TapeArray& array, Index batch) noexcept {
  return {data, {batch, array.rows / batch, array.width}};
}

// ------------------------------------------------------------------------------- recurrent units

/// Inputs of a step: x, wx, wh, bx, bh, h0.
GruWeights weights_of(const Pass& pass) noexcept {
  const auto matrix = [&](int i) {
    const TapeArray& a = pass.in(i);
    return TensorView<const float>(a.value, {a.rows, a.width});
  };
  const auto vector = [&](int i) {
    return TensorView<const float>(pass.in(i).value, {pass.in(i).size()});
  };
  return {.wx = matrix(1), .wh = matrix(2), .bx = vector(3), .bh = vector(4)};
}

TensorView<const float> start_of(const Pass& pass) noexcept {
  return pass.has(5)
             ? TensorView<const float>(pass.in(5).value, {pass.in(5).rows, pass.in(5).width})
             : TensorView<const float>();
}

Status recur_forward(const Pass& pass) noexcept {
  const Index batch = pass.step.batch;
  GruArgs args;
  args.x = sequences<const float>(pass.in(0).value, pass.in(0), batch);
  args.weights = weights_of(pass);
  args.h0 = start_of(pass);
  args.out = sequences(pass.out().value, pass.out(), batch);
  return gru(pass.kernels, args, pass.workspace);
}

Status recur_back(const Pass& pass) noexcept {
  const Index batch = pass.step.batch;
  GruBackwardArgs args;
  args.d_out = sequences<const float>(pass.out().gradient, pass.out(), batch);
  args.x = sequences<const float>(pass.in(0).value, pass.in(0), batch);
  args.weights = weights_of(pass);
  args.h0 = start_of(pass);
  args.out = sequences<const float>(pass.out().value, pass.out(), batch);
  args.dx = sequences(pass.gradient(0), pass.in(0), batch);
  args.dwx = pass.gradient_view(1);
  args.dwh = pass.gradient_view(2);
  args.dbx = {pass.gradient(3), {pass.in(3).size()}};
  args.dbh = {pass.gradient(4), {pass.in(4).size()}};
  args.dh0 = pass.gradient_view(5);
  return gru_backward(pass.kernels, args, pass.workspace);
}

// ------------------------------------------------------------------------------------ last states

/// The last row in use of batch row b, or -1.
Index last_row(const Pass& pass, Index b) noexcept {
  const Index tokens = pass.in(0).rows / pass.out().rows;
  const TensorView<const std::int32_t>& lengths =
      pass.step.as<LastStateStep>().side == Side::kSource ? pass.inputs.source_lengths
                                                          : pass.inputs.key_lengths;
  const Index used = lengths.absent() ? tokens : lengths.data[b];
  return used == 0 ? -1 : b * tokens + used - 1;
}

Status last_forward(const Pass& pass) noexcept {
  const Index width = pass.out().width;
  for (Index b = 0; b < pass.out().rows; ++b) {
    const Index row = last_row(pass, b);
    float* to = pass.out().value + b * width;
    if (row < 0) {
      std::fill_n(to, width, 0.0F);
    } else {
      std::copy_n(pass.in(0).value + row * width, width, to);
    }
  }
  return {};
}

Status last_back(const Pass& pass) noexcept {
  const Index width = pass.out().width;
  float* to = pass.gradient(0);
  std::fill_n(to, pass.in(0).size(), 0.0F);
  for (Index b = 0; b < pass.out().rows; ++b) {
    const Index row = last_row(pass, b);
    if (row >= 0) {
      std::copy_n(pass.out().gradient + b * width, width, to + row * width);
    }
  }
  return {};
}

// ------------------------------------------------------------------------------ additive attention

/// Inputs of a step: q, k, v, values.
TensorView<float> weights_view(const Pass& pass, Index batch) noexcept {
  return {pass.saved().value, {batch, pass.in(0).rows / batch, pass.in(1).rows / batch}};
}

Status additive_forward(const Pass& pass) noexcept {
  const Index batch = pass.step.batch;
  ProjectedAdditiveArgs args;
  args.q = sequences<const float>(pass.in(0).value, pass.in(0), batch);
  args.k = sequences<const float>(pass.in(1).value, pass.in(1), batch);
  args.v = {pass.in(2).value, {pass.in(2).size()}};
  args.values = sequences<const float>(pass.in(3).value, pass.in(3), batch);
  args.key_lengths = pass.inputs.source_lengths;
  args.context = sequences(pass.out().value, pass.out(), batch);
  args.weights = weights_view(pass, batch);
  apply_additive(pass.kernels, args, pass.workspace.pool());
  return {};
}

Status additive_back(const Pass& pass) noexcept {
  const Index batch = pass.step.batch;
  ProjectedAdditiveBackwardArgs args;
  args.d_context = sequences<const float>(pass.out().gradient, pass.out(), batch);
  args.q = sequences<const float>(pass.in(0).value, pass.in(0), batch);
  args.k = sequences<const float>(pass.in(1).value, pass.in(1), batch);
  args.v = {pass.in(2).value, {pass.in(2).size()}};
  args.values = sequences<const float>(pass.in(3).value, pass.in(3), batch);
  args.key_lengths = pass.inputs.source_lengths;
  args.weights = weights_view(pass, batch);
  args.dq = sequences(pass.gradient(0), pass.in(0), batch);
  args.dk = sequences(pass.gradient(1), pass.in(1), batch);
  args.dv = {pass.gradient(2), {pass.in(2).size()}};
  args.d_values = sequences(pass.gradient(3), pass.in(3), batch);
  QKV_RETURN_IF_ERROR(
      pass.workspace.begin(additive_backward_scratch(args, pass.workspace.threads())));
  apply_additive_backward(pass.kernels, args, pass.workspace);
  return {};
}

constexpr Operation kRecur = {recur_forward, recur_back};
constexpr Operation kLast = {last_forward, last_back};
constexpr Operation kAdditive = {additive_forward, additive_back};

}  // namespace

ArrayId recur(Tape& tape, ArrayId x, const GruArrays& weights, ArrayId h0, Index batch) noexcept {
  Step step;
  step.operation = &kRecur;
  step.in = {x, weights.wx, weights.wh, weights.bx, weights.bh, h0};
  step.batch = batch;
  return tape.record(step, tape.rows(x), tape.rows(weights.wh));
}

ArrayId last_state(Tape& tape, ArrayId x, Index batch, Side side) noexcept {
  Step step;
  step.operation = &kLast;
  step.in[0] = x;
  step.of = LastStateStep{side};
  return tape.record(step, batch, tape.width(x));
}

ArrayId attend_additively(Tape& tape, ArrayId q, ArrayId k, ArrayId v, ArrayId values,
                          Index batch) noexcept {
  Step step;
  step.operation = &kAdditive;
  step.in = {q, k, v, values, kNoArray, kNoArray};
  step.batch = batch;
  return tape.record(step, tape.rows(q), tape.width(values),
                     detail::saturated_product(tape.rows(q), tape.rows(k) / batch));
}

}  // namespace qkv::train
