#include "qkv/train/gru.hpp"

#include <algorithm>

#include "base/float_count.hpp"
#include "check/check.hpp"
#include "train/gradients/linear_gradients.hpp"
#include "train/gradients/with_kernels.hpp"
#include "weights/linear_product.hpp"

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
  return check_dense_if_given(caller, "h0", h0, {s.batch, s.hidden});
}

/// x W + b of all rows.
LinearArgs projection(const TensorView<const float>& x, const TensorView<const float>& w,
                      const TensorView<const float>& b, float* to) noexcept {
  LinearArgs args;
  args.x = x;
  args.w = w;
  args.bias = b;
  args.out = {to, {x.extent(0), w.extent(1)}};
  return args;
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
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels("gru", kernels));
  return gru(kernels, args, workspace);
}

Status gru(const TrainKernels& kernels, const GruArgs& args, Workspace& workspace) noexcept {
  constexpr const char* kName = "gru";
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
  const std::size_t of_rows = capped_product(s.rows(), gates);
  const std::size_t of_batch = capped_product(s.batch, gates);
  const std::size_t of_state = capped_product(s.batch, s.hidden);
  const kernels::KernelTable& forward = *kernels.forward;
  LinearArgs x = projection({args.x.data, {s.rows(), s.in}}, w.wx, w.bx, nullptr);
  const LinearArgs h = projection({nullptr, {s.batch, s.hidden}}, w.wh, w.bh, nullptr);
  QKV_RETURN_IF_ERROR(workspace.begin(capped_sum(
      {Workspace::padded(of_rows), Workspace::padded(of_batch), Workspace::padded(of_state),
       packed_scratch(forward, h), linear_scratch(forward, x)})));
  float* of_x = x.out.data = workspace.take(of_rows);
  float* of_h = workspace.take(of_batch);
  float* state = workspace.take(of_state);  // [B, hidden]: h before the step at hand
  const LinearColumns u = pack_whole(forward, h, workspace);
  apply_linear(forward, x, workspace);
  copy_start(s, args.h0, state);
  for (Index t = 0; t < s.tokens; ++t) {
    apply_columns(forward, workspace.pool(), u, {state, s.batch, of_h});
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

constexpr const char* kGruBackward = "gru_backward";

Status check(const GruBackwardArgs& args, GruShape& s) noexcept {
  const GruWeights& w = args.weights;
  QKV_RETURN_IF_ERROR(check_inputs(kGruBackward, args.x, w, args.h0, s));
  const Index gates = 3 * s.hidden;
  QKV_RETURN_IF_ERROR(
      check_dense(kGruBackward, "d_out", args.d_out, {s.batch, s.tokens, s.hidden}));
  QKV_RETURN_IF_ERROR(check_dense(kGruBackward, "out", args.out, {s.batch, s.tokens, s.hidden}));
  QKV_RETURN_IF_ERROR(check_dense_if_given(kGruBackward, "dx", args.dx, {s.batch, s.tokens, s.in}));
  QKV_RETURN_IF_ERROR(check_dense_if_given(kGruBackward, "dh0", args.dh0, {s.batch, s.hidden}));
  QKV_RETURN_IF_ERROR(check_dense(kGruBackward, "dwx", args.dwx, {s.in, gates}));
  QKV_RETURN_IF_ERROR(check_dense(kGruBackward, "dwh", args.dwh, {s.hidden, gates}));
  QKV_RETURN_IF_ERROR(check_dense(kGruBackward, "dbx", args.dbx, {gates}));
  QKV_RETURN_IF_ERROR(check_dense(kGruBackward, "dbh", args.dbh, {gates}));
  return check_apart(kGruBackward,
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
struct GruTape {
  float* of_x;    ///< [rows, 3 hidden]
  float* of_h;    ///< [rows, 3 hidden]
  float* d_of_x;  ///< likewise
  float* d_of_h;  ///< likewise
  float* before;  ///< [rows, hidden]: h before each step
  float* d_step;  ///< [B, hidden]: the gradient of h after the step at hand
  float* d_gate;  ///< [B, 3 hidden]: d_of_h of that step
  float* carry;   ///< [B, hidden]: what goes to the step before through the products
};

/// The linear maps of a pass. Their sizes, and so their scratch, are there before the tape has a place.
struct GruProducts {
  LinearArgs of_x, of_h;              ///< the gates of all steps
  LinearArgs back;                    ///< carry = d_gate U^T of one step
  LinearBackwardArgs d_of_x, d_of_h;  ///< the gradients of the weights, and of x
};

GruProducts gru_products_of(const GruBackwardArgs& args, const GruShape& s,
                            const GruTape& tape) noexcept {
  const GruWeights& w = args.weights;
  const Index gates = 3 * s.hidden;
  GruProducts p;
  p.of_x = projection({args.x.data, {s.rows(), s.in}}, w.wx, w.bx, tape.of_x);
  p.of_h = projection({tape.before, {s.rows(), s.hidden}}, w.wh, w.bh, tape.of_h);
  p.back.x = {tape.d_gate, {s.batch, gates}};
  p.back.w = w.wh;
  p.back.layout = WeightLayout::kOutIn;
  p.back.out = {tape.carry, {s.batch, s.hidden}};
  p.d_of_x.d_out = {tape.d_of_x, {s.rows(), gates}};
  p.d_of_x.x = p.of_x.x;
  p.d_of_x.w = w.wx;
  p.d_of_x.dw = args.dwx;
  p.d_of_x.d_bias = args.dbx;
  if (!args.dx.absent()) {
    p.d_of_x.dx = {args.dx.data, {s.rows(), s.in}};
  }
  p.d_of_h.d_out = {tape.d_of_h, {s.rows(), gates}};
  p.d_of_h.x = p.of_h.x;
  p.d_of_h.w = w.wh;
  p.d_of_h.dw = args.dwh;
  p.d_of_h.d_bias = args.dbh;
  return p;
}

/// What the greatest of them takes.
std::size_t scratch_of(const TrainKernels& kernels, const GruProducts& p) noexcept {
  return std::max(
      {linear_scratch(*kernels.forward, p.of_x), linear_scratch(*kernels.forward, p.of_h),
       linear_backward_scratch(kernels, p.d_of_x), linear_backward_scratch(kernels, p.d_of_h)});
}

/// Begins the workspace with room for the tape and the products, and places the tape in it.
Status begin(const GruBackwardArgs& args, const GruShape& s, const TrainKernels& kernels,
             GruTape& tape, Workspace& workspace) noexcept {
  const std::size_t of_gates = capped_product(s.rows(), 3 * s.hidden);
  const std::size_t of_states = capped_product(s.rows(), s.hidden);
  const std::size_t of_gate = capped_product(s.batch, 3 * s.hidden);
  const std::size_t of_state = capped_product(s.batch, s.hidden);
  QKV_RETURN_IF_ERROR(workspace.begin(
      capped_sum({capped_product(4, Workspace::padded(of_gates)), Workspace::padded(of_states),
                  Workspace::padded(of_gate), capped_product(2, Workspace::padded(of_state)),
                  packed_scratch(*kernels.forward, gru_products_of(args, s, {}).back),
                  scratch_of(kernels, gru_products_of(args, s, {}))})));
  tape.of_x = workspace.take(of_gates);
  tape.of_h = workspace.take(of_gates);
  tape.d_of_x = workspace.take(of_gates);
  tape.d_of_h = workspace.take(of_gates);
  tape.before = workspace.take(of_states);
  tape.d_step = workspace.take(of_state);
  tape.d_gate = workspace.take(of_gate);
  tape.carry = workspace.take(of_state);
  return {};
}

/// h before each step.
void copy_before(const GruBackwardArgs& args, const GruShape& s, const GruTape& tape) noexcept {
  copy_start(s, args.h0, tape.carry);  // of no other use until the steps begin
  for (Index b = 0; s.tokens > 0 && b < s.batch; ++b) {
    float* before = tape.before + b * s.tokens * s.hidden;
    std::copy_n(tape.carry + b * s.hidden, s.hidden, before);
    std::copy_n(args.out.data + b * s.tokens * s.hidden, (s.tokens - 1) * s.hidden,
                before + s.hidden);
  }
}

/// The elementwise part of step t: from the gradient of h after it to those of its gates.
void step_back(const GruBackwardArgs& args, const GruShape& s, const TrainKernels& kernels,
               const GruTape& tape, Index t) noexcept {
  const Index gates = 3 * s.hidden;
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
}

}  // namespace

Status gru_backward(const GruBackwardArgs& args, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kGruBackward, kernels));
  return gru_backward(kernels, args, workspace);
}

Status gru_backward(const TrainKernels& kernels, const GruBackwardArgs& args,
                    Workspace& workspace) noexcept {
  GruShape s;
  QKV_RETURN_IF_ERROR(check(args, s));
  GruTape tape{};
  QKV_RETURN_IF_ERROR(begin(args, s, kernels, tape, workspace));
  const GruProducts products = gru_products_of(args, s, tape);
  const LinearColumns back = pack_whole(*kernels.forward, products.back, workspace);
  copy_before(args, s, tape);
  apply_linear(*kernels.forward, products.of_x, workspace);
  apply_linear(*kernels.forward, products.of_h, workspace);
  std::fill_n(tape.d_step, s.batch * s.hidden, 0.0F);
  for (Index t = s.tokens - 1; s.batch > 0 && t >= 0; --t) {
    step_back(args, s, kernels, tape, t);
    apply_columns(*kernels.forward, workspace.pool(), back, {tape.d_gate, s.batch, tape.carry});
    for (Index i = 0; i < s.batch * s.hidden; ++i) {
      tape.d_step[i] += tape.carry[i];
    }
  }
  apply_linear_backward(kernels, products.d_of_x, workspace);
  apply_linear_backward(kernels, products.d_of_h, workspace);
  if (!args.dh0.absent()) {
    std::copy_n(tape.d_step, s.batch * s.hidden, args.dh0.data);
  }
  return {};
}

}  // namespace qkv::train
