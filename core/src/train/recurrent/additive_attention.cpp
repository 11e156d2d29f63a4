#include "qkv/train/additive_attention.hpp"

#include <algorithm>

#include "base/float_count.hpp"
#include "check/check.hpp"
#include "train/gradients/linear_gradients.hpp"
#include "train/recurrent/projected_additive.hpp"
#include "weights/linear_product.hpp"

namespace qkv::train {
namespace {

constexpr const char* kAdditiveForward = "additive_attention";
constexpr const char* kAdditiveBackward = "additive_attention_backward";

/// Sizes of a call, with those of queries and keys before they are projected.
struct FullShape {
  AdditiveShape of;
  Index ds = 0, dh = 0;

  [[nodiscard]] Index queries() const noexcept { return of.batch * of.tq; }
  [[nodiscard]] Index keys() const noexcept { return of.batch * of.tk; }
};

/// Queries and keys in use; what stands at the others is no number of the call.
struct RowsInUse {
  const TensorView<const std::int32_t>& key_lengths;
  Index tokens;  ///< of each batch row
  bool queries;  ///< which are all in use, or none where there is no key

  [[nodiscard]] Index operator()(Index b) const noexcept {
    const Index keys = keys_in_use(key_lengths, b, tokens);
    return queries && keys > 0 ? tokens : keys;
  }
};

/// `values`, or h.
template <class Args>
const TensorView<const float>& values_of(const Args& args) noexcept {
  return args.values.absent() ? args.h : args.values;
}

template <class Args>
Status check_inputs(const Caller& caller, const Args& args, FullShape& s) noexcept {
  QKV_RETURN_IF_ERROR(check_dense(caller, "s", args.s, {kAny, kAny, kAny}));
  QKV_RETURN_IF_ERROR(check_dense(caller, "w", args.score.w, {args.s.extent(2), kAny}));
  s.ds = args.s.extent(2);
  s.of = {.batch = args.s.extent(0),
          .tq = args.s.extent(1),
          .tk = args.h.extent(1),
          .da = args.score.w.extent(1)};  // check_additive() says dv
  QKV_RETURN_IF_ERROR(check_dense(caller, "h", args.h, {s.of.batch, kAny, kAny}));
  s.dh = args.h.extent(2);
  if (s.ds < 1 || s.dh < 1 || s.of.da < 1) {
    return refuse(StatusCode::kShapeMismatch, caller,
                  "@s is {}, @h {} and @w {}, expected widths of at least 1", Extents(args.s),
                  Extents(args.h), Extents(args.score.w));
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, "u", args.score.u, {s.dh, s.of.da}));
  return check_additive(caller, {args.score.v, values_of(args), args.key_lengths}, s.of);
}

/// The product of rows and a matrix, both dense.
LinearArgs projection(const TensorView<const float>& rows, const TensorView<const float>& w,
                      float* to) noexcept {
  LinearArgs args;
  args.x = rows;
  args.w = w;
  args.out = {to, {rows.extent(0), rows.extent(1), w.extent(1)}};
  return args;
}

// ------------------------------------------------------------------------------------------ forward

Status check(const AdditiveAttentionArgs& args, FullShape& s) noexcept {
  QKV_RETURN_IF_ERROR(check_inputs(kAdditiveForward, args, s));
  const AdditiveShape& of = s.of;
  QKV_RETURN_IF_ERROR(
      check_output(kAdditiveForward, "context", args.context, {of.batch, of.tq, of.dv}));
  QKV_RETURN_IF_ERROR(
      check_output(kAdditiveForward, "weights", args.weights, {of.batch, of.tq, of.tk}));
  return check_apart(kAdditiveForward, {{"context", args.context}, {"weights", args.weights}},
                     {{"s", args.s},
                      {"h", args.h},
                      {"w", args.score.w},
                      {"u", args.score.u},
                      {"v", args.score.v},
                      {"values", args.values},
                      {"key_lengths", args.key_lengths}});
}

// ----------------------------------------------------------------------------------------- backward

Status check_gradients(const AdditiveAttentionBackwardArgs& args, const FullShape& s) noexcept {
  const AdditiveShape& of = s.of;
  QKV_RETURN_IF_ERROR(
      check_dense_if_given(kAdditiveBackward, "ds", args.ds, {of.batch, of.tq, s.ds}));
  QKV_RETURN_IF_ERROR(
      check_dense_if_given(kAdditiveBackward, "dh", args.dh, {of.batch, of.tk, s.dh}));
  QKV_RETURN_IF_ERROR(check_dense_if_given(kAdditiveBackward, "dw", args.dw, {s.ds, of.da}));
  QKV_RETURN_IF_ERROR(check_dense_if_given(kAdditiveBackward, "du", args.du, {s.dh, of.da}));
  QKV_RETURN_IF_ERROR(check_dense_if_given(kAdditiveBackward, "dv", args.dv, {of.da}));
  if (args.d_values.absent()) {
    return {};
  }
  if (args.values.absent()) {
    return refuse(StatusCode::kInvalidArgument, kAdditiveBackward,
                  "@d_values is given without @values, expected both or neither");
  }
  return check_output(kAdditiveBackward, "d_values", args.d_values, {of.batch, of.tk, of.dv});
}

Status check(const AdditiveAttentionBackwardArgs& args, FullShape& s) noexcept {
  QKV_RETURN_IF_ERROR(check_inputs(kAdditiveBackward, args, s));
  const AdditiveShape& of = s.of;
  QKV_RETURN_IF_ERROR(
      check_array(kAdditiveBackward, "d_context", args.d_context, {of.batch, of.tq, of.dv}));
  QKV_RETURN_IF_ERROR(
      check_array(kAdditiveBackward, "weights", args.weights, {of.batch, of.tq, of.tk}));
  QKV_RETURN_IF_ERROR(check_gradients(args, s));
  return check_apart(kAdditiveBackward,
                     {{"ds", args.ds},
                      {"dh", args.dh},
                      {"dw", args.dw},
                      {"du", args.du},
                      {"dv", args.dv},
                      {"d_values", args.d_values}},
                     {{"d_context", args.d_context},
                      {"s", args.s},
                      {"h", args.h},
                      {"w", args.score.w},
                      {"u", args.score.u},
                      {"v", args.score.v},
                      {"values", args.values},
                      {"key_lengths", args.key_lengths},
                      {"weights", args.weights}});
}

/// What a backward pass keeps between its parts; null where it is not needed.
struct AdditiveTape {
  float* q;         ///< [B, Tq, da]
  float* k;         ///< [B, Tk, da]
  float* dq;        ///< the shape of q
  float* dk;        ///< the shape of k
  float* s;         ///< the queries in use, with zeros for the others
  float* h;         ///< the keys in use, likewise
  float* d_values;  ///< [B, Tk, dh], where h is the values
};

/// The products of a pass. Their sizes, and so their scratch, are there before the tape has a place.
struct Products {
  LinearArgs q, k;
  LinearBackwardArgs of_q, of_k;
};

Products products_of(const AdditiveAttentionBackwardArgs& args, const AdditiveTape& tape) noexcept {
  Products p;
  p.q = projection(args.s, args.score.w, tape.q);
  p.k = projection(args.h, args.score.u, tape.k);
  p.of_q.d_out = p.q.out;
  p.of_q.d_out.data = tape.dq;
  p.of_q.x = args.s;
  p.of_q.w = args.score.w;
  p.of_q.dx = args.ds;
  p.of_q.dw = args.dw;
  p.of_k.d_out = p.k.out;
  p.of_k.d_out.data = tape.dk;
  p.of_k.x = args.h;
  p.of_k.w = args.score.u;
  p.of_k.dx = args.dh;
  p.of_k.dw = args.du;
  if (!args.key_lengths.absent()) {
    p.of_q.x.data = tape.s;
    p.of_k.x.data = tape.h;
  }
  return p;
}

/// Begins the workspace with room for the tape and for what is done with it, and places the tape in it.
Status begin(const AdditiveAttentionBackwardArgs& args, const FullShape& s,
             const TrainKernels& kernels, AdditiveTape& tape, Workspace& workspace) noexcept {
  const std::size_t of_q = capped_product(s.queries(), s.of.da);
  const std::size_t of_k = capped_product(s.keys(), s.of.da);
  const bool lengths = !args.key_lengths.absent();
  const std::size_t of_s = lengths ? capped_product(s.queries(), s.ds) : 0;
  const std::size_t of_h = lengths ? capped_product(s.keys(), s.dh) : 0;
  const bool both = args.values.absent() && !args.dh.absent();
  const std::size_t of_values = both ? capped_product(s.keys(), s.dh) : 0;
  const Products p = products_of(args, {});
  const std::size_t scratch =
      std::max({linear_scratch(*kernels.forward, p.q), linear_scratch(*kernels.forward, p.k),
                linear_backward_scratch(kernels, p.of_q), linear_backward_scratch(kernels, p.of_k),
                additive_backward_scratch(in_use(s.of), workspace.threads())});
  QKV_RETURN_IF_ERROR(workspace.begin(capped_sum(
      {capped_product(2, Workspace::padded(of_q)), capped_product(2, Workspace::padded(of_k)),
       Workspace::padded(of_s), Workspace::padded(of_h), Workspace::padded(of_values), scratch})));
  tape.q = workspace.take(of_q);
  tape.k = workspace.take(of_k);
  tape.dq = workspace.take(of_q);
  tape.dk = workspace.take(of_k);
  tape.s = workspace.take(of_s);
  tape.h = workspace.take(of_h);
  tape.d_values = workspace.take(of_values);
  return {};
}

/// A copy of x [B, T, n] in which rows that are not in use are 0: their products with a gradient of 0 would else be NaN
/// where they hold NaN.
void copy_in_use(const TensorView<const float>& x, const RowsInUse& in_use, float* to) noexcept {
  const Index n = x.extent(2);
  for (Index b = 0; x.size() > 0 && b < x.extent(0); ++b) {
    const Index count = in_use(b);
    std::copy_n(x.at(b), count * n, to);
    std::fill_n(to + count * n, (x.extent(1) - count) * n, 0.0F);
    to += x.extent(1) * n;
  }
}

/// dh of keys that are values too, and 0 of those past the length.
void finish_keys(const AdditiveAttentionBackwardArgs& args, const AdditiveTape& tape) noexcept {
  const TensorView<float>& dh = args.dh;
  const Index n = dh.extent(2);
  for (Index b = 0; !dh.absent() && dh.size() > 0 && b < dh.extent(0); ++b) {
    const Index keys = keys_in_use(args.key_lengths, b, dh.extent(1));
    float* rows = dh.at(b);
    for (Index i = 0; args.values.absent() && i < keys * n; ++i) {
      rows[i] += tape.d_values[b * dh.extent(1) * n + i];
    }
    std::fill_n(rows + keys * n, (dh.extent(1) - keys) * n, 0.0F);
  }
}

}  // namespace

Status additive_attention(const AdditiveAttentionArgs& args, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kAdditiveForward, kernels));
  FullShape s;
  QKV_RETURN_IF_ERROR(check(args, s));
  const std::size_t of_q = capped_product(s.queries(), s.of.da);
  const std::size_t of_k = capped_product(s.keys(), s.of.da);
  LinearArgs q = projection(args.s, args.score.w, nullptr);
  LinearArgs k = projection(args.h, args.score.u, nullptr);
  QKV_RETURN_IF_ERROR(workspace.begin(capped_sum(
      {Workspace::padded(of_q), Workspace::padded(of_k),
       std::max(linear_scratch(*kernels.forward, q), linear_scratch(*kernels.forward, k))})));
  q.out.data = workspace.take(of_q);
  k.out.data = workspace.take(of_k);
  apply_linear(*kernels.forward, q, workspace);
  apply_linear(*kernels.forward, k, workspace);
  apply_additive(kernels,
                 {.q = q.out,
                  .k = k.out,
                  .v = args.score.v,
                  .values = values_of(args),
                  .key_lengths = args.key_lengths,
                  .context = args.context,
                  .weights = args.weights},
                 workspace.pool());
  return {};
}

Status additive_attention_backward(const AdditiveAttentionBackwardArgs& args,
                                   Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kAdditiveBackward, kernels));
  FullShape s;
  QKV_RETURN_IF_ERROR(check(args, s));
  AdditiveTape tape{};
  QKV_RETURN_IF_ERROR(begin(args, s, kernels, tape, workspace));
  const Products products = products_of(args, tape);
  apply_linear(*kernels.forward, products.q, workspace);
  apply_linear(*kernels.forward, products.k, workspace);
  ProjectedAdditiveBackwardArgs inner{.d_context = args.d_context,
                                      .q = products.q.out,
                                      .k = products.k.out,
                                      .v = args.score.v,
                                      .values = values_of(args),
                                      .key_lengths = args.key_lengths,
                                      .weights = args.weights,
                                      .dq = {tape.dq, {s.of.batch, s.of.tq, s.of.da}},
                                      .dk = {tape.dk, {s.of.batch, s.of.tk, s.of.da}},
                                      .dv = args.dv,
                                      .d_values = args.d_values};
  if (args.values.absent() && !args.dh.absent()) {
    inner.d_values = {tape.d_values, {s.of.batch, s.of.tk, s.dh}};
  }
  apply_additive_backward(kernels, inner, workspace);
  if (!args.key_lengths.absent()) {
    copy_in_use(args.s, {args.key_lengths, s.of.tq, true}, tape.s);
    copy_in_use(args.h, {args.key_lengths, s.of.tk, false}, tape.h);
  }
  apply_linear_backward(kernels, products.of_q, workspace);
  apply_linear_backward(kernels, products.of_k, workspace);
  finish_keys(args, tape);
  return {};
}

}  // namespace qkv::train
