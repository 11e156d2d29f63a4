#include "qkv/train/gru.hpp"

#include <algorithm>

#include "check.hpp"
#include "float_count.hpp"
#include "qkv/train/linear.hpp"
#include "train_dispatch.hpp"

namespace qkv::train {
namespace {

struct GruShape {
  Index batch = 0, tokens = 0, in = 0, hidden = 0;

  [[nodiscard]] Index rows() const noexcept { return batch * tokens; }
};

/// x, weights and h0, and the sizes that follow from them.
Status check_inputs(const Caller& caller, const TensorView<const float>& x, const GruWeights& w,
                    const TensorView<const float>& h0, GruShape& s) noexcept {
  QKV_RETURN_IF_ERROR(check_dense(caller, "x", x, {kAny, kAny, kAny}));
  s.batch = x.extent(0);
  s.tokens = x.extent(1);
  s.in = x.extent(2);
  QKV_RETURN_IF_ERROR(check_dense(caller, "wh", w.wh, {kAny, kAny}));
  s.hidden = w.wh.extent(0);
  if (s.in < 1 || s.hidden < 1) {
    return refuse(StatusCode::kShapeMismatch, caller,
                  "@x is {} and @wh {}, expected widths of at least 1", Extents(x), Extents(w.wh));
  }
  const Index gates = detail::saturated_product(3, s.hidden);
  QKV_RETURN_IF_ERROR(check_dense(caller, "wh", w.wh, {s.hidden, gates}));
  QKV_RETURN_IF_ERROR(check_dense(caller, "wx", w.wx, {s.in, gates}));
  QKV_RETURN_IF_ERROR(check_dense(caller, "bx", w.bx, {gates}));
  QKV_RETURN_IF_ERROR(check_dense(caller, "bh", w.bh, {gates}));
  return h0.absent() ? Status{} : check_dense(caller, "h0", h0, {s.batch, s.hidden});
}

/// x W + b of all rows.
Status project(const TensorView<const float>& x, const TensorView<const float>& w,
               const TensorView<const float>& b, float* to, Workspace& workspace) noexcept {
  LinearArgs args;
  args.x = x;
  args.w = w;
  args.bias = b;
  args.out = {to, {x.extent(0), w.extent(1)}};
  return linear(args, workspace);
}

/// h0, or zeros.
void copy_start(const GruShape& s, const TensorView<const float>& h0, float* to) noexcept {
  if (h0.absent()) {
    std::fill_n(to, s.batch * s.hidden, 0.0F);
  } else {
    std::copy_n(h0.data, s.batch * s.hidden, to);
  }
}

}  // namespace

Status gru(const GruArgs& args, Workspace& workspace) noexcept {
  constexpr const char* kName = "gru";
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  GruShape s;
  const GruWeights& w = args.weights;
  QKV_RETURN_IF_ERROR(check_inputs(kName, args.x, w, args.h0, s));
  QKV_RETURN_IF_ERROR(check_dense(kName, "out", args.out, {s.batch, s.tokens, s.hidden}));
  QKV_RETURN_IF_ERROR(check_apart(
      kName, {{"out", args.out}},
      {{"x", args.x}, {"wx", w.wx}, {"wh", w.wh}, {"bx", w.bx}, {"bh", w.bh}, {"h0", args.h0}}));
  if (s.rows() == 0) {
    return {};
  }
  const Index gates = 3 * s.hidden;
  AlignedBuffer memory;  // linear() has the workspace for itself
  const std::size_t of_rows = capped_product(s.rows(), gates);
  const std::size_t of_batch = capped_product(s.batch, gates);
  QKV_RETURN_IF_ERROR(memory.reserve(capped_sum({of_rows, of_batch, of_batch})));
  float* of_x = memory.data();
  float* of_h = of_x + of_rows;
  float* state = of_h + of_batch;  // [B, hidden]: h before the step at hand
  QKV_RETURN_IF_ERROR(project({args.x.data, {s.rows(), s.in}}, w.wx, w.bx, of_x, workspace));
  copy_start(s, args.h0, state);
  for (Index t = 0; t < s.tokens; ++t) {
    // The first of these products finds the memory for all, before anything is written.
    QKV_RETURN_IF_ERROR(project({state, {s.batch, s.hidden}}, w.wh, w.bh, of_h, workspace));
    for (Index b = 0; b < s.batch; ++b) {
      kernels::GruStepArgs step{};
      step.hidden = s.hidden;
      step.of_x = of_x + (b * s.tokens + t) * gates;
      step.of_h = of_h + b * gates;
      step.before = state + b * s.hidden;
      step.after = args.out.data + (b * s.tokens + t) * s.hidden;
      kernels.backward->gru_step(step);
      std::copy_n(step.after, s.hidden, state + b * s.hidden);
    }
  }
  return {};
}

namespace {

constexpr const char* kBackward = "gru_backward";

/// More floats than linear() packs of weights at a time.
constexpr std::size_t kLinearFloats = std::size_t{1} << 19U;

Status check(const GruBackwardArgs& args, GruShape& s) noexcept {
  const GruWeights& w = args.weights;
  QKV_RETURN_IF_ERROR(check_inputs(kBackward, args.x, w, args.h0, s));
  const Index gates = 3 * s.hidden;
  QKV_RETURN_IF_ERROR(check_dense(kBackward, "d_out", args.d_out, {s.batch, s.tokens, s.hidden}));
  QKV_RETURN_IF_ERROR(check_dense(kBackward, "out", args.out, {s.batch, s.tokens, s.hidden}));
  if (!args.dx.absent()) {
    QKV_RETURN_IF_ERROR(check_dense(kBackward, "dx", args.dx, {s.batch, s.tokens, s.in}));
  }
  if (!args.dh0.absent()) {
    QKV_RETURN_IF_ERROR(check_dense(kBackward, "dh0", args.dh0, {s.batch, s.hidden}));
  }
  QKV_RETURN_IF_ERROR(check_dense(kBackward, "dwx", args.dwx, {s.in, gates}));
  QKV_RETURN_IF_ERROR(check_dense(kBackward, "dwh", args.dwh, {s.hidden, gates}));
  QKV_RETURN_IF_ERROR(check_dense(kBackward, "dbx", args.dbx, {gates}));
  QKV_RETURN_IF_ERROR(check_dense(kBackward, "dbh", args.dbh, {gates}));
  return check_apart(kBackward,
                     {{"dx", args.dx},
                      {"dh0", args.dh0},
                      {"dwx", args.dwx},
                      {"dwh", args.dwh},
                      {"dbx", args.dbx},
                      {"dbh", args.dbh}},
                     {{"d_out", args.d_out},
                      {"x", args.x},
                      {"wx", w.wx},
                      {"wh", w.wh},
                      {"bx", w.bx},
                      {"bh", w.bh},
                      {"h0", args.h0},
                      {"out", args.out}});
}

/// Everything that the steps read and write, for all of them.
struct Tape {
  float* of_x;    ///< [rows, 3 hidden]
  float* of_h;    ///< [rows, 3 hidden]
  float* d_of_x;  ///< likewise
  float* d_of_h;  ///< likewise
  float* before;  ///< [rows, hidden]: h before each step
  float* d_step;  ///< [B, hidden]: the gradient of h after the step at hand
  float* d_gate;  ///< [B, 3 hidden]: d_of_h of that step
  float* carry;   ///< [B, hidden]: what goes to the step before through the products
};

/// All steps from the last to the first. tape.d_step is then the gradient of h0.
Status go_back(const GruBackwardArgs& args, const GruShape& s, const TrainKernels& kernels,
               const Tape& tape, Workspace& workspace) noexcept {
  const Index gates = 3 * s.hidden;
  std::fill_n(tape.d_step, s.batch * s.hidden, 0.0F);
  for (Index t = s.tokens - 1; t >= 0; --t) {
    for (Index b = 0; b < s.batch; ++b) {
      const Index row = b * s.tokens + t;
      float* d_step = tape.d_step + b * s.hidden;
      for (Index i = 0; i < s.hidden; ++i) {
        d_step[i] += args.d_out.data[row * s.hidden + i];
      }
      kernels::GruStepArgs step{};
      step.hidden = s.hidden;
      step.of_x = tape.of_x + row * gates;
      step.of_h = tape.of_h + row * gates;
      step.before = tape.before + row * s.hidden;
      step.d_after = d_step;
      step.d_of_x = tape.d_of_x + row * gates;
      step.d_of_h = tape.d_of_h + row * gates;
      step.d_before = d_step;
      kernels.backward->gru_step_backward(step);
      std::copy_n(step.d_of_h, gates, tape.d_gate + b * gates);
    }
    LinearArgs back;
    back.x = {tape.d_gate, {s.batch, gates}};
    back.w = args.weights.wh;
    back.layout = WeightLayout::kOutIn;
    back.out = {tape.carry, {s.batch, s.hidden}};
    QKV_RETURN_IF_ERROR(linear(back, workspace));
    for (Index i = 0; i < s.batch * s.hidden; ++i) {
      tape.d_step[i] += tape.carry[i];
    }
  }
  return {};
}

}  // namespace

Status gru_backward(const GruBackwardArgs& args, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kBackward, kernels));
  GruShape s;
  QKV_RETURN_IF_ERROR(check(args, s));
  const Index gates = 3 * s.hidden;
  const std::size_t of_gates = capped_product(s.rows(), gates);
  const std::size_t of_states = capped_product(s.rows(), s.hidden);
  const std::size_t of_batch = capped_product(s.batch, gates);
  // What the products take, so that none of them fails after another has written a gradient.
  const Index widest = std::max(gates, s.in);
  const std::uint64_t columns = whole_panels(widest, kernels.forward->panel);
  QKV_RETURN_IF_ERROR(workspace.begin(
      capped_sum({capped_product(columns, s.rows()),
                  capped_product(columns, kernels.forward->panel), 2 * columns, kLinearFloats})));
  AlignedBuffer memory;  // linear() has the workspace for itself
  QKV_RETURN_IF_ERROR(memory.reserve(
      capped_sum({capped_product(4, of_gates), of_states, capped_product(3, of_batch)})));
  Tape tape{};
  tape.of_x = memory.data();
  tape.of_h = tape.of_x + of_gates;
  tape.d_of_x = tape.of_h + of_gates;
  tape.d_of_h = tape.d_of_x + of_gates;
  tape.before = tape.d_of_h + of_gates;
  tape.d_step = tape.before + of_states;
  tape.d_gate = tape.d_step + of_batch;
  tape.carry = tape.d_gate + of_batch;
  copy_start(s, args.h0, tape.carry);  // of no other use until the steps begin
  for (Index b = 0; s.tokens > 0 && b < s.batch; ++b) {
    float* before = tape.before + b * s.tokens * s.hidden;
    std::copy_n(tape.carry + b * s.hidden, s.hidden, before);
    std::copy_n(args.out.data + b * s.tokens * s.hidden, (s.tokens - 1) * s.hidden,
                before + s.hidden);
  }
  const TensorView<const float> x(args.x.data, {s.rows(), s.in});
  const TensorView<const float> before(tape.before, {s.rows(), s.hidden});
  const GruWeights& w = args.weights;
  QKV_RETURN_IF_ERROR(project(x, w.wx, w.bx, tape.of_x, workspace));
  QKV_RETURN_IF_ERROR(project(before, w.wh, w.bh, tape.of_h, workspace));
  QKV_RETURN_IF_ERROR(go_back(args, s, kernels, tape, workspace));
  LinearBackwardArgs of_x;
  of_x.d_out = {tape.d_of_x, {s.rows(), gates}};
  of_x.x = x;
  of_x.w = w.wx;
  of_x.dw = args.dwx;
  of_x.d_bias = args.dbx;
  if (!args.dx.absent()) {
    of_x.dx = {args.dx.data, {s.rows(), s.in}};
  }
  QKV_RETURN_IF_ERROR(linear_backward(of_x, workspace));
  LinearBackwardArgs of_h;
  of_h.d_out = {tape.d_of_h, {s.rows(), gates}};
  of_h.x = before;
  of_h.w = w.wh;
  of_h.dw = args.dwh;
  of_h.d_bias = args.dbh;
  QKV_RETURN_IF_ERROR(linear_backward(of_h, workspace));
  if (!args.dh0.absent()) {
    std::copy_n(tape.d_step, s.batch * s.hidden, args.dh0.data);
  }
  return {};
}

}  // namespace qkv::train
