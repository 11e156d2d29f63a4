#include "train/recurrent/projected_additive.hpp"

#include <algorithm>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check.hpp"

namespace qkv::train {
namespace {

using kernels::RowsOf;

constexpr const char* kProjectedForward = "projected_additive_attention";
constexpr const char* kProjectedBackward = "projected_additive_attention_backward";

/// Multiplications that take as long as one hyperbolic tangent.
constexpr double kTangent = 16.0;

/// Rows of batch row b of a view of rank 3; null where there are none.
template <class T>
RowsOf<T> rows_of(const TensorView<T>& view, Index b) noexcept {
  return view.absent() || view.size() == 0 ? RowsOf<T>{nullptr, 0}
                                           : RowsOf<T>{view.at(b), view.stride(1)};
}

/// The pool, if there is work for it: a task is a batch row, the only owner of its sums.
ThreadPool* pool_for(ThreadPool* pool, const AdditiveShape& s) noexcept {
  const double tangents = static_cast<double>(s.batch) * static_cast<double>(s.tq) *
                          static_cast<double>(s.tk) * static_cast<double>(s.da);
  return s.batch > 1 && tangents * kTangent >= kWorthSharing ? pool : nullptr;
}

template <class Args>
AdditiveShape shape_of(const Args& args) noexcept {
  return in_use({.batch = args.q.extent(0),
                 .tq = args.q.extent(1),
                 .tk = args.k.extent(1),
                 .da = args.q.extent(2),
                 .dv = args.values.extent(2)});
}

Status check_projections(const Caller& caller, const TensorView<const float>& q,
                         const TensorView<const float>& k, AdditiveShape& s) noexcept {
  QKV_RETURN_IF_ERROR(check_array(caller, "q", q, {kAny, kAny, kAny}));
  s.batch = q.extent(0);
  s.tq = q.extent(1);
  s.da = q.extent(2);
  if (s.da < 1) {
    return refuse(StatusCode::kShapeMismatch, caller, "@q is {}, expected a width of at least 1",
                  Extents(q));
  }
  QKV_RETURN_IF_ERROR(check_array(caller, "k", k, {s.batch, kAny, s.da}));
  s.tk = k.extent(1);
  return {};
}

Status check(const ProjectedAdditiveArgs& args) noexcept {
  AdditiveShape s;
  QKV_RETURN_IF_ERROR(check_projections(kProjectedForward, args.q, args.k, s));
  QKV_RETURN_IF_ERROR(
      check_additive(kProjectedForward, {args.v, args.values, args.key_lengths}, s));
  QKV_RETURN_IF_ERROR(
      check_output(kProjectedForward, "context", args.context, {s.batch, s.tq, s.dv}));
  QKV_RETURN_IF_ERROR(
      check_output(kProjectedForward, "weights", args.weights, {s.batch, s.tq, s.tk}));
  return check_apart(kProjectedForward, {{"context", args.context}, {"weights", args.weights}},
                     {{"q", args.q},
                      {"k", args.k},
                      {"v", args.v},
                      {"values", args.values},
                      {"key_lengths", args.key_lengths}});
}

Status check(const ProjectedAdditiveBackwardArgs& args) noexcept {
  AdditiveShape s;
  QKV_RETURN_IF_ERROR(check_projections(kProjectedBackward, args.q, args.k, s));
  QKV_RETURN_IF_ERROR(
      check_additive(kProjectedBackward, {args.v, args.values, args.key_lengths}, s));
  QKV_RETURN_IF_ERROR(
      check_array(kProjectedBackward, "d_context", args.d_context, {s.batch, s.tq, s.dv}));
  QKV_RETURN_IF_ERROR(
      check_array(kProjectedBackward, "weights", args.weights, {s.batch, s.tq, s.tk}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(kProjectedBackward, "dq", args.dq, {s.batch, s.tq, s.da}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(kProjectedBackward, "dk", args.dk, {s.batch, s.tk, s.da}));
  QKV_RETURN_IF_ERROR(check_output_if_given(kProjectedBackward, "dv", args.dv, {s.da}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(kProjectedBackward, "d_values", args.d_values, {s.batch, s.tk, s.dv}));
  return check_apart(
      kProjectedBackward,
      {{"dq", args.dq}, {"dk", args.dk}, {"dv", args.dv}, {"d_values", args.d_values}},
      {{"d_context", args.d_context},
       {"q", args.q},
       {"k", args.k},
       {"v", args.v},
       {"values", args.values},
       {"key_lengths", args.key_lengths},
       {"weights", args.weights}});
}

/// Sets rows [first, view.extent(1)) of batch row b to 0.
void clear_rows(const TensorView<float>& view, Index b, Index first) noexcept {
  const Index rows = view.absent() || view.size() == 0 ? 0 : view.extent(1);
  for (Index row = first; row < rows; ++row) {
    std::fill_n(view.at(b, row), view.extent(2), 0.0F);
  }
}

/// dv is summed over batch rows in double, in their order.
void add_up(const float* of_rows, Index batch, const TensorView<float>& dv) noexcept {
  const Index da = dv.extent(0);
  for (Index d = 0; d < da; ++d) {
    double sum = 0.0;
    for (Index b = 0; b < batch; ++b) {
      sum += static_cast<double>(of_rows[b * da + d]);
    }
    *dv.at(d) = static_cast<float>(sum);
  }
}

}  // namespace

Status check_additive(const Caller& caller, const AdditiveInputs& inputs,
                      AdditiveShape& s) noexcept {
  QKV_RETURN_IF_ERROR(check_array(caller, "v", inputs.v, {s.da}));
  QKV_RETURN_IF_ERROR(check_array(caller, "values", inputs.values, {s.batch, s.tk, kAny}));
  s.dv = inputs.values.extent(2);
  return check_key_lengths(caller, inputs.key_lengths, s.batch, s.tk);
}

void apply_additive(const TrainKernels& kernels, const ProjectedAdditiveArgs& args,
                    ThreadPool* pool) noexcept {
  const AdditiveShape s = shape_of(args);
  for_each_task(pool_for(pool, s), s.batch, [&](Index b, int /*thread*/) noexcept {
    const Index keys = keys_in_use(args.key_lengths, b, s.tk);
    kernels.backward->attend_additively({.queries = s.tq,
                                         .keys = keys,
                                         .width = s.da,
                                         .value_width = s.dv,
                                         .q = rows_of(args.q, b),
                                         .k = rows_of(args.k, b),
                                         .v = args.v.data,
                                         .values = rows_of(args.values, b),
                                         .weights = rows_of(args.weights, b),
                                         .context = rows_of(args.context, b)});
    for (Index i = 0; keys < s.tk && i < s.tq; ++i) {
      std::fill_n(args.weights.at(b, i, keys), s.tk - keys, 0.0F);
    }
  });
}

std::size_t additive_backward_scratch(const AdditiveShape& s, int threads) noexcept {
  return capped_sum({capped_product(threads, Workspace::padded(capped(s.tk))),
                     Workspace::padded(capped_product(s.batch, s.da))});
}

std::size_t additive_backward_scratch(const ProjectedAdditiveBackwardArgs& args,
                                      int threads) noexcept {
  return additive_backward_scratch(shape_of(args), threads);
}

void apply_additive_backward(const TrainKernels& kernels, const ProjectedAdditiveBackwardArgs& args,
                             Workspace& workspace) noexcept {
  const AdditiveShape s = shape_of(args);
  const std::size_t mark = workspace.mark();
  const std::size_t of_scores = Workspace::padded(static_cast<std::size_t>(s.tk));
  float* scores = workspace.take(static_cast<std::size_t>(workspace.threads()) * of_scores);
  float* dv = workspace.take(capped_product(s.batch, s.da));
  for_each_task(pool_for(workspace.pool(), s), s.batch, [&](Index b, int thread) noexcept {
    // Without queries nobody reads a key, and the arrays of queries may be null.
    const Index keys = s.tq > 0 ? keys_in_use(args.key_lengths, b, s.tk) : 0;
    kernels.backward->attend_additively_backward(
        {.queries = s.tq,
         .keys = keys,
         .width = s.da,
         .value_width = s.dv,
         .q = rows_of(args.q, b),
         .k = rows_of(args.k, b),
         .v = args.v.data,
         .values = rows_of(args.values, b),
         .weights = rows_of(args.weights, b),
         .d_context = rows_of(args.d_context, b),
         .d_q = rows_of(args.dq, b),
         .d_k = rows_of(args.dk, b),
         .d_values = rows_of(args.d_values, b),
         .d_v = args.dv.absent() ? nullptr : dv + b * s.da,
         .d_scores = scores + thread * static_cast<Index>(of_scores)});
    clear_rows(args.dk, b, keys);
    clear_rows(args.d_values, b, keys);
  });
  if (!args.dv.absent()) {
    add_up(dv, s.batch, args.dv);
  }
  workspace.rewind(mark);
}

Status projected_additive_attention(const ProjectedAdditiveArgs& args,
                                    Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kProjectedForward, kernels));
  QKV_RETURN_IF_ERROR(check(args));
  apply_additive(kernels, args, workspace.pool());
  return {};
}

Status projected_additive_attention_backward(const ProjectedAdditiveBackwardArgs& args,
                                             Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kProjectedBackward, kernels));
  QKV_RETURN_IF_ERROR(check(args));
  QKV_RETURN_IF_ERROR(workspace.begin(additive_backward_scratch(args, workspace.threads())));
  apply_additive_backward(kernels, args, workspace);
  return {};
}

}  // namespace qkv::train
