#include "qkv/multi_head_attention.hpp"

#include <cstring>
#include <limits>

#include "attention_plan.hpp"
#include "check.hpp"
#include "isa_dispatch.hpp"

namespace qkv {
namespace {

using kernels::KernelTable;

constexpr const char* kCreate = "MultiHeadAttention::create";
constexpr const char* kForward = "MultiHeadAttention::forward";

/// Fills in the defaults and checks what can be checked without weights.
Status resolve(MultiHeadAttentionConfig& c) noexcept {
  const auto at_least_one = [](const char* name, Index value) {
    return value >= 1
               ? Status{}
               : Status::error(StatusCode::kOutOfRange, "%s: %s is %lld, expected at least 1",
                               kCreate, name, static_cast<long long>(value));
  };
  QKV_RETURN_IF_ERROR(at_least_one("d_model", c.d_model));
  QKV_RETURN_IF_ERROR(at_least_one("num_heads", c.num_heads));
  c.num_kv_heads = c.num_kv_heads == 0 ? c.num_heads : c.num_kv_heads;
  QKV_RETURN_IF_ERROR(at_least_one("num_kv_heads", c.num_kv_heads));
  if (c.num_heads % c.num_kv_heads != 0) {
    return Status::error(
        StatusCode::kOutOfRange, "%s: num_kv_heads is %lld, expected a divisor of num_heads = %lld",
        kCreate, static_cast<long long>(c.num_kv_heads), static_cast<long long>(c.num_heads));
  }
  if (c.d_k == 0 && c.d_model % c.num_heads != 0) {
    return Status::error(StatusCode::kOutOfRange,
                         "%s: d_model is %lld, expected a multiple of num_heads = %lld, or a d_k",
                         kCreate, static_cast<long long>(c.d_model),
                         static_cast<long long>(c.num_heads));
  }
  c.d_k = c.d_k == 0 ? c.d_model / c.num_heads : c.d_k;
  c.d_v = c.d_v == 0 ? c.d_k : c.d_v;
  c.d_context = c.d_context == 0 ? c.d_model : c.d_context;
  QKV_RETURN_IF_ERROR(at_least_one("d_k", c.d_k));
  QKV_RETURN_IF_ERROR(at_least_one("d_v", c.d_v));
  return at_least_one("d_context", c.d_context);
}

/// One of the four matrices as create() sees it: a view of [in, out], whatever the layout.
struct Linear {
  const char* name;
  const char* bias_name;
  TensorView<const float> weight;
  TensorView<const float> bias;
  Index in, out;
  WeightLayout layout;
};

Status check_linear(const Linear& l) noexcept {
  if (l.weight.absent()) {
    return Status::error(StatusCode::kInvalidArgument, "%s: %s is missing", kCreate, l.name);
  }
  const bool in_out = l.layout == WeightLayout::kInOut;
  QKV_RETURN_IF_ERROR(
      check_array(kCreate, l.name, l.weight, {in_out ? l.in : l.out, in_out ? l.out : l.in}));
  return l.bias.absent() ? Status{} : check_array(kCreate, l.bias_name, l.bias, {l.out});
}

/// More floats than memory can hold: a buffer of so many is refused.
constexpr std::uint64_t kMostFloats = std::numeric_limits<std::size_t>::max() / sizeof(float);

Status pack_linear(const KernelTable& table, const Linear& l, PackedLinear& packed) noexcept {
  const auto columns =
      static_cast<std::size_t>((l.out + table.panel - 1) / table.panel * table.panel);
  const std::uint64_t floats = std::uint64_t{columns} * static_cast<std::uint64_t>(l.in);
  QKV_RETURN_IF_ERROR(
      packed.panels.reserve(static_cast<std::size_t>(floats < kMostFloats ? floats : kMostFloats)));
  const bool in_out = l.layout == WeightLayout::kInOut;
  table.pack({.b = l.weight.data,
              .row_stride = l.weight.stride(in_out ? 0 : 1),
              .column_stride = l.weight.stride(in_out ? 1 : 0),
              .k = l.in,
              .n = l.out,
              .panels = packed.panels.data()});
  if (!l.bias.absent()) {
    QKV_RETURN_IF_ERROR(packed.bias.reserve(columns));
    std::memset(packed.bias.data(), 0, columns * sizeof(float));
    std::memcpy(packed.bias.data(), l.bias.data, static_cast<std::size_t>(l.out) * sizeof(float));
  }
  packed.in = l.in;
  packed.out = l.out;
  return {};
}

/// y[rows, out] = x[rows, in] W + b.
void apply(const KernelTable& table, const PackedLinear& l, const float* x, Index rows,
           float* y) noexcept {
  table.gemm({.m = rows,
              .n = l.out,
              .k = l.in,
              .a = x,
              .a_stride = l.in,
              .b_panels = l.panels.data(),
              .bias = l.bias.data(),
              .c = y,
              .c_stride = l.out});
}

/// Columns [from, from + count) of the fused matrix or bias.
TensorView<const float> slice(TensorView<const float> fused, int axis, Index from,
                              Index count) noexcept {
  if (!fused.absent()) {
    const auto a = static_cast<std::size_t>(axis);
    fused.data += from * fused.strides[a];
    fused.shape[a] = count;
  }
  return fused;
}

/// Splits wqkv and bqkv into their three parts.
Status split_fused(const MultiHeadAttentionConfig& c, MultiHeadAttentionWeights& w) noexcept {
  if (w.wqkv.absent()) {
    return w.bqkv.absent() ? Status{}
                           : Status::error(StatusCode::kInvalidArgument,
                                           "%s: bqkv is given without wqkv", kCreate);
  }
  if (!w.wq.absent() || !w.wk.absent() || !w.wv.absent() || !w.bq.absent() || !w.bk.absent() ||
      !w.bv.absent()) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: wqkv is given together with separate weights or biases of q, k or v, "
                         "expected one or the other",
                         kCreate);
  }
  if (c.d_context != c.d_model) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: wqkv is given and d_context is %lld, expected d_model = %lld",
                         kCreate, static_cast<long long>(c.d_context),
                         static_cast<long long>(c.d_model));
  }
  const Index q = c.num_heads * c.d_k;
  const Index k = c.num_kv_heads * c.d_k;
  const Index v = c.num_kv_heads * c.d_v;
  const bool in_out = c.weight_layout == WeightLayout::kInOut;
  const Linear fused{"wqkv", "bqkv", w.wqkv, w.bqkv, c.d_model, q + k + v, c.weight_layout};
  QKV_RETURN_IF_ERROR(check_linear(fused));
  const int axis = in_out ? 1 : 0;
  w.wq = slice(w.wqkv, axis, 0, q);
  w.wk = slice(w.wqkv, axis, q, k);
  w.wv = slice(w.wqkv, axis, q + k, v);
  w.bq = slice(w.bqkv, 0, 0, q);
  w.bk = slice(w.bqkv, 0, q, k);
  w.bv = slice(w.bqkv, 0, q + k, v);
  return {};
}

/// Q, K, V and O of one call.
struct Activations {
  std::size_t q, k, v, o;

  /// With the `scratch` of attention(), or kMostFloats.
  [[nodiscard]] std::size_t total(std::size_t scratch) const noexcept {
    const std::uint64_t sum = std::uint64_t{Workspace::padded(q)} + Workspace::padded(k) +
                              Workspace::padded(v) + Workspace::padded(o) + scratch;
    return static_cast<std::size_t>(sum < kMostFloats ? sum : kMostFloats);
  }
};

Activations plan_activations(const MultiHeadAttentionConfig& c, Index batch, Index tq,
                             Index tk) noexcept {
  const auto size = [&](Index tokens, Index heads, Index d) {
    // Each factor but the last is part of an array that exists; the product need not fit.
    const std::uint64_t rows =
        static_cast<std::uint64_t>(batch) * static_cast<std::uint64_t>(tokens);
    const std::uint64_t width = static_cast<std::uint64_t>(heads) * static_cast<std::uint64_t>(d);
    return static_cast<std::size_t>(width == 0 || rows < kMostFloats / width ? rows * width
                                                                             : kMostFloats);
  };
  return {.q = size(tq, c.num_heads, c.d_k),
          .k = size(tk, c.num_kv_heads, c.d_k),
          .v = size(tk, c.num_kv_heads, c.d_v),
          .o = size(tq, c.num_heads, c.d_v)};
}

}  // namespace

Status MultiHeadAttention::create(const MultiHeadAttentionConfig& config,
                                  const MultiHeadAttentionWeights& weights,
                                  MultiHeadAttention& layer) noexcept {
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kCreate, table));
  MultiHeadAttention built;
  MultiHeadAttentionConfig& c = built.config_;
  c = config;
  QKV_RETURN_IF_ERROR(resolve(c));
  MultiHeadAttentionWeights w = weights;
  QKV_RETURN_IF_ERROR(split_fused(c, w));

  const struct {
    Linear linear;
    PackedLinear* packed;
  } parts[] = {
      {{"wq", "bq", w.wq, w.bq, c.d_model, c.num_heads * c.d_k, c.weight_layout}, &built.wq_},
      {{"wk", "bk", w.wk, w.bk, c.d_context, c.num_kv_heads * c.d_k, c.weight_layout}, &built.wk_},
      {{"wv", "bv", w.wv, w.bv, c.d_context, c.num_kv_heads * c.d_v, c.weight_layout}, &built.wv_},
      {{"wo", "bo", w.wo, w.bo, c.num_heads * c.d_v, c.d_model, c.weight_layout}, &built.wo_},
  };
  for (const auto& part : parts) {
    QKV_RETURN_IF_ERROR(check_linear(part.linear));
  }
  for (const auto& part : parts) {
    QKV_RETURN_IF_ERROR(pack_linear(*table, part.linear, *part.packed));
  }
  built.kernels_ = table;
  layer = std::move(built);
  return {};
}

/// Checks one call and measures what it needs.
struct MultiHeadAttention::Call {
  Index batch, tq, tk;
  TensorView<const float> context;
  Activations activations;
  AttentionArgs attention;  ///< its q, k, v and out get their memory in forward()
  AttentionPlan plan;
};

Status MultiHeadAttention::check(const ForwardArgs& args, Call& call) const noexcept {
  if (!kernels_) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: the layer is empty, expected one made by create()", kForward);
  }
  const MultiHeadAttentionConfig& c = config_;
  constexpr Index kAny = ShapeText::kAny;
  QKV_RETURN_IF_ERROR(check_dense(kForward, "x", args.x, {kAny, kAny, c.d_model}));
  call.batch = args.x.extent(0);
  call.tq = args.x.extent(1);
  call.context = args.x;
  if (!args.context.absent()) {
    QKV_RETURN_IF_ERROR(
        check_dense(kForward, "context", args.context, {call.batch, kAny, c.d_context}));
    call.context = args.context;
  } else if (c.d_context != c.d_model) {
    return Status::error(StatusCode::kShapeMismatch,
                         "%s: context is absent and d_context is %lld, expected [%lld,*,%lld]",
                         kForward, static_cast<long long>(c.d_context),
                         static_cast<long long>(call.batch), static_cast<long long>(c.d_context));
  }
  call.tk = call.context.extent(1);
  QKV_RETURN_IF_ERROR(check_dense(kForward, "y", args.y, {call.batch, call.tq, c.d_model}));

  call.activations = plan_activations(c, call.batch, call.tq, call.tk);
  // Planning reads shapes only; a pointer that is not null stands for memory that comes later.
  float later = 0.0F;
  call.attention = {
      .q = split_heads<const float>(&later, call.batch, call.tq, c.num_heads, c.d_k),
      .k = split_heads<const float>(&later, call.batch, call.tk, c.num_kv_heads, c.d_k),
      .v = split_heads<const float>(&later, call.batch, call.tk, c.num_kv_heads, c.d_v),
      .out = split_heads<float>(&later, call.batch, call.tq, c.num_heads, c.d_v),
      .options = args.options,
      .extras = args.extras};
  QKV_RETURN_IF_ERROR(plan_attention(kForward, call.attention, call.plan));
  if (call.plan.table != kernels_) {
    return Status::error(StatusCode::kUnsupported,
                         "%s: the layer was created for %s and %s is active, expected the same",
                         kForward, kernels_->isa, call.plan.table->isa);
  }
  return {};
}

Status MultiHeadAttention::forward(const ForwardArgs& args, Workspace& workspace) const noexcept {
  Call call;
  QKV_RETURN_IF_ERROR(check(args, call));
  QKV_RETURN_IF_ERROR(workspace.begin(call.activations.total(call.plan.scratch)));
  const KernelTable& table = *kernels_;
  float* q = workspace.take(call.activations.q);
  float* k = workspace.take(call.activations.k);
  float* v = workspace.take(call.activations.v);
  float* o = workspace.take(call.activations.o);
  apply(table, wq_, args.x.data, call.batch * call.tq, q);
  apply(table, wk_, call.context.data, call.batch * call.tk, k);
  apply(table, wv_, call.context.data, call.batch * call.tk, v);
  call.attention.q.data = q;
  call.attention.k.data = k;
  call.attention.v.data = v;
  call.attention.out.data = o;
  run_attention(call.plan, call.attention, workspace);
  apply(table, wo_, o, call.batch * call.tq, args.y.data);
  return {};
}

std::size_t MultiHeadAttention::forward_scratch_bytes(const ForwardArgs& args) const noexcept {
  Call call;
  return check(args, call).ok() ? call.activations.total(call.plan.scratch) * sizeof(float) : 0;
}

}  // namespace qkv
