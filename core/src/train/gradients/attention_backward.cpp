#include <algorithm>

#include "attention/attention_heads.hpp"
#include "attention/attention_plan.hpp"
#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check.hpp"
#include "qkv/train/attention.hpp"
#include "train/gradients/with_kernels.hpp"

namespace qkv::train {
namespace {

using kernels::BackwardArgs;
using kernels::GroupArgs;

constexpr const char* kAttentionBackward = "attention_backward";

/// A view that is only read, for checks and structs that the forward pass writes through.
TensorView<float> unconst(const TensorView<const float>& view) noexcept {
  TensorView<float> same;
  same.data = const_cast<float*>(view.data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  same.rank = view.rank;
  same.shape = view.shape;
  same.strides = view.strides;
  return same;
}

/// The forward call that is differentiated.
AttentionArgs forward_of(const AttentionBackwardArgs& args) noexcept {
  AttentionArgs forward;
  forward.q = args.q;
  forward.k = args.k;
  forward.v = args.v;
  forward.out = unconst(args.out);
  forward.extras.lse = unconst(args.lse);
  forward.options = args.options;
  return forward;
}

/// A call that was checked: its forward call with masks of full rank, and its gradients likewise.
struct Plan {
  AttentionArgs forward;
  AttentionPlan attention;
  TrainKernels kernels;
  TensorView<float> d_bias;
  int threads = 1;
  std::size_t k_panels = 0, k_rows = 0, v_columns = 0, tile = 0;  ///< floats of one thread
  std::size_t sinks = 0;  ///< floats of their gradients, one for each batch row

  [[nodiscard]] std::size_t scratch() const noexcept {
    std::size_t thread = 0;
    for (const std::size_t piece : {k_panels, k_rows, v_columns, tile}) {
      thread = capped_sum({thread, Workspace::padded(piece)});
    }
    return capped_sum({capped_product(threads, thread), Workspace::padded(sinks)});
  }
};

/// Key/value heads share the gradient of a bias that is broadcast over batch rows or heads: its sum has
/// one owner only if they are computed one after another.
bool bias_is_shared(const TensorView<float>& d_bias, const AttentionShape& s) noexcept {
  return !d_bias.absent() &&
         ((s.batch > 1 && d_bias.stride(0) == 0) || (s.num_kv_heads > 1 && d_bias.stride(1) == 0));
}

Status check_gradients(const AttentionBackwardArgs& args, Plan& plan) noexcept {
  const AttentionShape& s = plan.attention.shape;
  QKV_RETURN_IF_ERROR(
      check_array(kAttentionBackward, "d_out", args.d_out, {s.batch, s.num_heads, s.tq, s.dv}));
  QKV_RETURN_IF_ERROR(
      check_output(kAttentionBackward, "dq", args.dq, {s.batch, s.num_heads, s.tq, s.dk}));
  QKV_RETURN_IF_ERROR(
      check_output(kAttentionBackward, "dk", args.dk, {s.batch, s.num_kv_heads, s.tk, s.dk}));
  QKV_RETURN_IF_ERROR(
      check_output(kAttentionBackward, "dv", args.dv, {s.batch, s.num_kv_heads, s.tk, s.dv}));
  if (!args.d_sinks.absent()) {
    if (args.options.sinks.absent()) {
      return refuse(StatusCode::kInvalidArgument, kAttentionBackward,
                    "@d_sinks is given without @sinks, expected both or neither");
    }
    QKV_RETURN_IF_ERROR(check_output(kAttentionBackward, "d_sinks", args.d_sinks, {s.num_heads}));
  }
  plan.d_bias = args.d_bias;
  if (args.d_bias.absent()) {
    return {};
  }
  const TensorView<const float>& bias = args.options.bias;
  if (bias.absent()) {
    return refuse(StatusCode::kInvalidArgument, kAttentionBackward,
                  "@d_bias is given without @bias, expected both or neither");
  }
  const bool fits =
      args.d_bias.rank == bias.rank &&
      std::equal(bias.shape.begin(), bias.shape.begin() + bias.rank, args.d_bias.shape.begin());
  if (!fits) {
    return refuse(StatusCode::kShapeMismatch, kAttentionBackward,
                  "@d_bias is {}, expected {}, as @bias is", Extents(args.d_bias), Extents(bias));
  }
  if (args.d_bias.size() > 0 &&
      !elements_are_apart(args.d_bias.rank, args.d_bias.shape.data(), args.d_bias.strides.data())) {
    return refuse(
        StatusCode::kInvalidArgument, kAttentionBackward,
        "@d_bias has strides {} for {}, expected strides with which no two elements overlap",
        Extents(args.d_bias.strides, args.d_bias.rank), Extents(args.d_bias));
  }
  return broadcast_to(kAttentionBackward, "d_bias", plan.d_bias,
                      {s.batch, s.num_heads, s.tq, s.tk});
}

/// plan.kernels are there.
Status make_plan(const AttentionBackwardArgs& args, int threads, Plan& plan) noexcept {
  plan.forward = forward_of(args);
  if (plan.forward.extras.lse.absent()) {
    return refuse(StatusCode::kInvalidArgument, kAttentionBackward,
                  "@lse is missing, expected that of the forward call");
  }
  QKV_RETURN_IF_ERROR(
      plan_attention(kAttentionBackward, *plan.kernels.forward, plan.forward, plan.attention));
  QKV_RETURN_IF_ERROR(check_gradients(args, plan));
  const AttentionShape& s = plan.attention.shape;
  const Index heads = detail::saturated_product(s.batch, s.num_kv_heads);
  const Index panel = plan.kernels.forward->panel;
  plan.k_panels = capped_product(whole_panels(s.tk, panel), s.dk);
  plan.k_rows = capped_product(whole_panels(s.dk, panel), s.tk);
  plan.v_columns = capped_product(whole_panels(s.tk, panel), s.dv);
  const Index rows = heads > 0 ? detail::saturated_product(s.tq, s.num_heads / s.num_kv_heads) : 0;
  plan.tile = capped(plan.kernels.backward->backward_scratch(rows, s.dk, s.dv));
  const bool has_sinks = !args.d_sinks.absent() && (s.tq > 0 || s.tk > 0);
  plan.sinks = has_sinks ? capped_product(s.batch, s.num_heads) : 0;
  // Any thread of the pool may take a task, so all have scratch, also with fewer heads than threads.
  plan.threads = heads <= 1 || bias_is_shared(plan.d_bias, s) ? 1 : std::max(1, threads);
  return {};
}

/// The outputs lie apart from each other and from everything that is read.
Status check_memory(const AttentionBackwardArgs& args) noexcept {
  const std::initializer_list<NamedSpan> outputs = {{"dq", args.dq},
                                                    {"dk", args.dk},
                                                    {"dv", args.dv},
                                                    {"d_bias", args.d_bias},
                                                    {"d_sinks", args.d_sinks}};
  QKV_RETURN_IF_ERROR(check_apart(kAttentionBackward, outputs,
                                  {{"d_out", args.d_out},
                                   {"q", args.q},
                                   {"k", args.k},
                                   {"v", args.v},
                                   {"out", args.out},
                                   {"lse", args.lse}}));
  return check_apart_from_options(kAttentionBackward, outputs, args.options);
}

/// Sets every element of a view of rank 4 to 0; those of an axis with stride 0 more than once.
void clear(const TensorView<float>& view) noexcept {
  if (view.absent() || view.size() == 0) {
    return;
  }
  for (Index b = 0; b < view.extent(0); ++b) {
    for (Index h = 0; h < view.extent(1); ++h) {
      for (Index i = 0; i < view.extent(2); ++i) {
        for (Index j = 0; j < view.extent(3); ++j) {
          *view.at(b, h, i, j) = 0.0F;
        }
      }
    }
  }
}

/// One call while it runs. A task is a key/value head of a batch row with all query heads that read it,
/// the only owner of everything that is summed there.
class Run {
 public:
  Run(const AttentionBackwardArgs& args, const Plan& plan, Workspace& workspace) noexcept
      : args_(args),
        plan_(plan),
        shape_(plan.attention.shape),
        common_(common_args(plan.forward, shape_)) {
    const auto threads = static_cast<std::size_t>(plan.threads);
    k_panels_ = workspace.take(threads * Workspace::padded(plan.k_panels));
    k_rows_ = workspace.take(threads * Workspace::padded(plan.k_rows));
    v_columns_ = workspace.take(threads * Workspace::padded(plan.v_columns));
    tiles_ = workspace.take(threads * Workspace::padded(plan.tile));
    sinks_ = workspace.take(plan.sinks);
    pool_ = plan.threads > 1 ? workspace.pool() : nullptr;
  }

  void compute() const noexcept {
    for_each_task(pool_, shape_.batch * shape_.num_kv_heads, [&](Index task, int thread) noexcept {
      differentiate(task / shape_.num_kv_heads, task % shape_.num_kv_heads, thread);
    });
    if (!args_.d_sinks.absent()) {
      add_sinks();
    }
  }

 private:
  [[nodiscard]] static float* piece(float* first, std::size_t floats, int thread) noexcept {
    return first + thread * static_cast<Index>(Workspace::padded(floats));
  }

  void differentiate(Index b, Index kv, int thread) const noexcept {
    const Index heads = shape_.num_heads / shape_.num_kv_heads;
    const Index h = kv * heads;
    BackwardArgs to{};
    to.group = common_;
    to.group.row_end = shape_.tq * heads;
    select_batch(plan_.forward, shape_, b, to.group);
    select_heads(plan_.forward, b, {h, heads}, to.group);
    to.out = {to.group.out.data, to.group.out.head_stride, to.group.out.query_stride};
    to.lse = {to.group.lse.data, to.group.lse.head_stride, to.group.lse.query_stride};
    to.d_out = rows_of(args_.d_out, b, h);
    to.dq = rows_of(args_.dq, b, h);
    to.dk = rows_of(args_.dk, b, kv).data;
    to.dv = rows_of(args_.dv, b, kv).data;
    to.dk_stride = args_.dk.stride(2);
    to.dv_stride = args_.dv.stride(2);
    if (!plan_.d_bias.absent() && plan_.d_bias.data) {
      to.d_bias = {plan_.d_bias.at(b, h), plan_.d_bias.stride(1), plan_.d_bias.stride(2),
                   plan_.d_bias.stride(3)};
    }
    if (!args_.d_sinks.absent()) {
      to.d_sinks = sinks_ + b * shape_.num_heads + h;
    }
    to.scratch = piece(tiles_, plan_.tile, thread);
    pack(b, kv, thread, to);
    plan_.kernels.backward->attend_backward(to);
    clear_unused(b, kv, to.group.keys.count);
  }

  /// Packs the keys and values in use in the three ways that products read them.
  void pack(Index b, Index kv, int thread, BackwardArgs& to) const noexcept {
    const Index keys = to.group.keys.count;
    if (keys == 0) {  // k and v may be null
      return;
    }
    const auto& table = *plan_.kernels.forward;
    float* k_panels = piece(k_panels_, plan_.k_panels, thread);
    float* k_rows = piece(k_rows_, plan_.k_rows, thread);
    float* v_columns = piece(v_columns_, plan_.v_columns, thread);
    const float* k = args_.k.at(b, kv);
    const float* v = args_.v.at(b, kv);
    table.pack({k, 1, args_.k.stride(2), shape_.dk, keys, k_panels});
    table.pack({k, args_.k.stride(2), 1, keys, shape_.dk, k_rows});
    table.pack({v, 1, args_.v.stride(2), shape_.dv, keys, v_columns});
    to.group.keys.k_panels = k_panels;
    to.k_rows = k_rows;
    to.v_columns = v_columns;
  }

  /// Keys past those in use were read by nobody.
  void clear_unused(Index b, Index kv, Index keys) const noexcept {
    for (Index j = keys; j < shape_.tk; ++j) {
      std::fill_n(args_.dk.at(b, kv, j), shape_.dk, 0.0F);
      std::fill_n(args_.dv.at(b, kv, j), shape_.dv, 0.0F);
    }
  }

  /// A head has one sink for all batch rows.
  void add_sinks() const noexcept {
    for (Index h = 0; h < shape_.num_heads; ++h) {
      double sum = 0.0;
      for (Index b = 0; b < shape_.batch; ++b) {
        sum += static_cast<double>(sinks_[b * shape_.num_heads + h]);
      }
      *args_.d_sinks.at(h) = static_cast<float>(sum);
    }
  }

  const AttentionBackwardArgs& args_;
  const Plan& plan_;
  const AttentionShape& shape_;
  const GroupArgs common_;
  float* k_panels_;
  float* k_rows_;
  float* v_columns_;
  float* tiles_;
  float* sinks_;  ///< [B, Hq] where they are requested
  ThreadPool* pool_;
};

}  // namespace

Status attention_backward(const AttentionBackwardArgs& args, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kAttentionBackward, kernels));
  return attention_backward(kernels, args, workspace);
}

Status attention_backward(const TrainKernels& kernels, const AttentionBackwardArgs& args,
                          Workspace& workspace) noexcept {
  Plan plan;
  plan.kernels = kernels;
  QKV_RETURN_IF_ERROR(make_plan(args, workspace.threads(), plan));
  QKV_RETURN_IF_ERROR(workspace.begin(plan.scratch()));
  QKV_RETURN_IF_ERROR(check_memory(args));
  clear(plan.d_bias);
  const AttentionShape& s = plan.attention.shape;
  if (s.tq == 0 && s.tk == 0) {  // of which there may be any number of batch rows
    for (Index h = 0; !args.d_sinks.absent() && h < s.num_heads; ++h) {
      *args.d_sinks.at(h) = 0.0F;
    }
    return {};
  }
  Run(args, plan, workspace).compute();
  return {};
}

std::size_t attention_backward_scratch_bytes(const AttentionBackwardArgs& args,
                                             int threads) noexcept {
  Plan plan;
  return require_train_kernels(kAttentionBackward, plan.kernels).ok() &&
                 make_plan(args, threads, plan).ok()
             ? plan.scratch() * sizeof(float)
             : 0;
}

}  // namespace qkv::train
