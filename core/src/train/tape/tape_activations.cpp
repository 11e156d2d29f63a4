// Steps that are functions of single numbers, or of two at one place: activations, gates and the softcap.
#include <algorithm>

#include "rows/over_rows.hpp"
#include "rows/softcap.hpp"
#include "train/gradients/with_kernels.hpp"
#include "train/tape/for_pieces.hpp"

namespace qkv::train {
namespace {

Status activation_forward(const Pass& pass) noexcept {
  over_elements(
      pass.workspace.pool(),
      activation_kernel(*pass.kernels.forward, pass.step.as<ActivationStep>().function),
      {.n = pass.out().size(), .x = pass.in(0).value, .y = nullptr, .out = pass.out().value});
  return {};
}

Status activation_back(const Pass& pass) noexcept {
  const auto kernel =
      activation_kernel(*pass.kernels.backward, pass.step.as<ActivationStep>().function);
  for_pieces(pass, [&](Index begin, Index end) noexcept {
    kernel({.n = end - begin,
            .d_out = pass.out().gradient + begin,
            .x = pass.in(0).value + begin,
            .y = nullptr,
            .dx = pass.gradient(0) + begin,
            .dy = nullptr});
  });
  return {};
}

Status gate_forward(const Pass& pass) noexcept {
  const Activation f = pass.step.as<ActivationStep>().function;
  const bool silu = f == Activation::kSilu;
  for_pieces(pass, [&](Index begin, Index end) noexcept {
    const kernels::ElementwiseArgs args{.n = end - begin,
                                        .x = pass.in(0).value + begin,
                                        .y = pass.in(1).value + begin,
                                        .out = pass.out().value + begin};
    (silu ? pass.kernels.forward->silu_times : activation_kernel(*pass.kernels.forward, f))(args);
    for (Index i = 0; !silu && i < args.n; ++i) {
      args.out[i] *= args.y[i];
    }
  });
  return {};
}

Status gate_back(const Pass& pass) noexcept {
  const auto kernel = gate_kernel(*pass.kernels.backward, pass.step.as<ActivationStep>().function);
  for_pieces(pass, [&](Index begin, Index end) noexcept {
    kernel({.n = end - begin,
            .d_out = pass.out().gradient + begin,
            .x = pass.in(0).value + begin,
            .y = pass.in(1).value + begin,
            .dx = pass.gradient(0) + begin,
            .dy = pass.gradient(1) + begin});
  });
  return {};
}

/// max(x, 0)^2, by the kernels that models have it by.
Status square_relu_forward(const Pass& pass) noexcept {
  const kernels::KernelTable& table = *pass.kernels.forward;
  for_pieces(pass, [&](Index begin, Index end) noexcept {
    const Index n = end - begin;
    float* out = pass.out().value + begin;
    table.relu({.n = n, .x = pass.in(0).value + begin, .y = nullptr, .out = out});
    table.multiply({.n = n, .x = out, .y = out, .out = out});
  });
  return {};
}

/// dx = d_out 2 max(x, 0), rounded once: twice a number is exact.
Status square_relu_back(const Pass& pass) noexcept {
  const kernels::KernelTable& table = *pass.kernels.forward;
  for_pieces(pass, [&](Index begin, Index end) noexcept {
    const Index n = end - begin;
    float* dx = pass.gradient(0) + begin;
    table.relu({.n = n, .x = pass.in(0).value + begin, .y = nullptr, .out = dx});
    table.add({.n = n, .x = dx, .y = dx, .out = dx});
    table.multiply({.n = n, .x = dx, .y = pass.out().gradient + begin, .out = dx});
  });
  return {};
}

Status cap_forward(const Pass& pass) noexcept {
  const auto c = static_cast<double>(pass.step.as<CapStep>().most);
  for_pieces(pass, [&](Index begin, Index end) noexcept {
    std::copy_n(pass.in(0).value + begin, end - begin, pass.out().value + begin);
    cap_numbers(pass.out().value + begin, end - begin, c);
  });
  return {};
}

Status cap_back(const Pass& pass) noexcept {
  const auto c = static_cast<double>(pass.step.as<CapStep>().most);
  for_pieces(pass, [&](Index begin, Index end) noexcept {
    const float* x = pass.in(0).value;
    const float* d_out = pass.out().gradient;
    for (Index i = begin; i < end; ++i) {
      pass.gradient(0)[i] = static_cast<float>(static_cast<double>(d_out[i]) * cap_slope(x[i], c));
    }
  });
  return {};
}

constexpr Operation kActivation = {activation_forward, activation_back};
constexpr Operation kGate = {gate_forward, gate_back};
constexpr Operation kSquareRelu = {square_relu_forward, square_relu_back};
constexpr Operation kCap = {cap_forward, cap_back};

}  // namespace

ArrayId activation(Tape& tape, ArrayId x, Activation f) noexcept {
  return tape.record_alike(kActivation, x, ActivationStep{f});
}

ArrayId gate(Tape& tape, ArrayId x, ArrayId y, Activation f) noexcept {
  Step step;
  step.operation = &kGate;
  step.in[0] = x;
  step.in[1] = y;
  step.of = ActivationStep{f};
  return tape.record(step, tape.rows(x), tape.width(x));
}

ArrayId square_relu(Tape& tape, ArrayId x) noexcept { return tape.record_alike(kSquareRelu, x); }

ArrayId cap(Tape& tape, ArrayId x, float most) noexcept {
  return tape.record_alike(kCap, x, CapStep{most});
}

}  // namespace qkv::train
