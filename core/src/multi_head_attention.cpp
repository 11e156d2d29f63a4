#include "qkv/multi_head_attention.hpp"

#include <cstring>
#include <limits>

#include "check.hpp"
#include "isa_dispatch.hpp"
#include "linear.hpp"
#include "multi_head_call.hpp"

namespace qkv {
namespace {

using kernels::KernelTable;
using Activations = MultiHeadActivations;

constexpr const char* kForward = "MultiHeadAttention::forward";
/// A layer has one rotary, and so has a block: its options are "rotary.base" in both.
constexpr const char* kRotary = "rotary.";

/// Fills in the defaults and checks what can be checked without weights.
Status resolve(const Caller& caller, MultiHeadAttentionConfig& c) noexcept {
  const auto at_least_one = [&caller](const char* name, Index value) {
    return value >= 1 ? Status{}
                      : refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected at least 1",
                               Argument{name}, value);
  };
  QKV_RETURN_IF_ERROR(at_least_one("d_model", c.d_model));
  QKV_RETURN_IF_ERROR(at_least_one("num_heads", c.num_heads));
  c.num_kv_heads = c.num_kv_heads == 0 ? c.num_heads : c.num_kv_heads;
  QKV_RETURN_IF_ERROR(at_least_one("num_kv_heads", c.num_kv_heads));
  if (c.num_heads % c.num_kv_heads != 0) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@num_kv_heads is {}, expected a divisor of @num_heads = {}", c.num_kv_heads,
                  c.num_heads);
  }
  if (c.d_k == 0 && c.d_model % c.num_heads != 0) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@d_model is {}, expected a multiple of @num_heads = {}, or a @d_k", c.d_model,
                  c.num_heads);
  }
  c.d_k = c.d_k == 0 ? c.d_model / c.num_heads : c.d_k;
  c.d_v = c.d_v == 0 ? c.d_k : c.d_v;
  c.d_context = c.d_context == 0 ? c.d_model : c.d_context;
  QKV_RETURN_IF_ERROR(at_least_one("d_k", c.d_k));
  QKV_RETURN_IF_ERROR(at_least_one("d_v", c.d_v));
  constexpr Index kMost = std::numeric_limits<Index>::max() / 8;
  const Index widest = c.d_k > c.d_v ? c.d_k : c.d_v;
  if (c.num_heads > kMost / widest) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@num_heads is {}, expected at most {} for heads of width {}", c.num_heads,
                  kMost / widest, widest);
  }
  QKV_RETURN_IF_ERROR(check_layout(caller, "weight_layout", c.weight_layout));
  return at_least_one("d_context", c.d_context);
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
Status split_fused(const Caller& caller, const MultiHeadAttentionConfig& c,
                   MultiHeadAttentionWeights& w) noexcept {
  if (w.wqkv.absent()) {
    return w.bqkv.absent() ? Status{}
                           : refuse(StatusCode::kInvalidArgument, caller,
                                    "@bqkv is given without @wqkv, expected both or neither");
  }
  if (!w.wq.absent() || !w.wk.absent() || !w.wv.absent() || !w.bq.absent() || !w.bk.absent() ||
      !w.bv.absent()) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@wqkv is given together with separate weights or biases of q, k or v, expected "
                  "one or the other");
  }
  if (c.d_context != c.d_model) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@wqkv is given and @d_context is {}, expected @d_model = {}", c.d_context,
                  c.d_model);
  }
  const Index q = c.num_heads * c.d_k;
  const Index k = c.num_kv_heads * c.d_k;
  const Index v = c.num_kv_heads * c.d_v;
  const bool in_out = c.weight_layout == WeightLayout::kInOut;
  const Linear fused{"wqkv", "bqkv", w.wqkv, w.bqkv, c.d_model, q + k + v, c.weight_layout};
  QKV_RETURN_IF_ERROR(check_linear(caller, fused));
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
Activations plan_activations(const MultiHeadAttentionConfig& c, Index batch, Index tq,
                             Index tk) noexcept {
  // Each factor is an extent of an array that exists; the product need not fit.
  const auto size = [&](Index tokens, Index heads, Index d) {
    return capped_product(capped_product(batch, tokens), capped_product(heads, d));
  };
  return {.q = size(tq, c.num_heads, c.d_k),
          .k = size(tk, c.num_kv_heads, c.d_k),
          .v = size(tk, c.num_kv_heads, c.d_v),
          .o = size(tq, c.num_heads, c.d_v)};
}

/// Copies a dense array to `to`, points the view there and moves `to` behind it.
template <class T>
void copy_array(TensorView<const T>& view, float*& to) noexcept {
  static_assert(sizeof(T) == sizeof(float));
  if (view.absent()) {
    return;
  }
  const auto count = static_cast<std::size_t>(view.size());
  if (count == 0) {
    return;  // where both may be null
  }
  std::memcpy(to, view.data, count * sizeof(T));
  view.data = reinterpret_cast<const T*>(to);
  to += count;
}

/// Checks config.rotary and moves its arrays into `buffer`.
Status own_rotary(const char* function, MultiHeadAttentionConfig& c,
                  AlignedBuffer& buffer) noexcept {
  if (!c.rotary) {
    return {};
  }
  RotaryOptions& rotary = *c.rotary;
  const Caller caller(function, kRotary);
  QKV_RETURN_IF_ERROR(check_rotary(caller, rotary, c.d_k));
  std::size_t count = 0;
  const auto check = [&](const char* name, const auto& view) {
    if (view.absent()) {
      return Status{};
    }
    QKV_RETURN_IF_ERROR(view.rank == 1   ? check_dense(caller, name, view, {kAny})
                        : view.rank == 2 ? check_dense(caller, name, view, {kAny, kAny})
                                         : check_dense(caller, name, view, {kAny, kAny, kAny}));
    count = capped_sum({count, capped_product(view.size(), 1)});
    return Status{};
  };
  QKV_RETURN_IF_ERROR(check("cos", rotary.cos));
  QKV_RETURN_IF_ERROR(check("sin", rotary.sin));
  QKV_RETURN_IF_ERROR(check("positions", rotary.positions));
  QKV_RETURN_IF_ERROR(buffer.reserve(count));
  float* to = buffer.data();
  copy_array(rotary.cos, to);
  copy_array(rotary.sin, to);
  copy_array(rotary.positions, to);
  return {};
}

}  // namespace

Status MultiHeadAttention::create(const MultiHeadAttentionConfig& config,
                                  const MultiHeadAttentionWeights& weights,
                                  MultiHeadAttention& layer) noexcept {
  return build("MultiHeadAttention::create", config, weights, layer);
}

Status MultiHeadAttention::build(const Caller& caller, const MultiHeadAttentionConfig& config,
                                 const MultiHeadAttentionWeights& weights,
                                 MultiHeadAttention& layer) noexcept {
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(caller, table));
  MultiHeadAttention built;
  MultiHeadAttentionConfig& c = built.config_;
  c = config;
  QKV_RETURN_IF_ERROR(resolve(caller, c));
  QKV_RETURN_IF_ERROR(own_rotary(caller.function, c, built.rotary_arrays_));
  MultiHeadAttentionWeights w = weights;
  QKV_RETURN_IF_ERROR(split_fused(caller, c, w));

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
    QKV_RETURN_IF_ERROR(check_linear(caller, part.linear));
  }
  for (const auto& part : parts) {
    QKV_RETURN_IF_ERROR(pack_linear(*table, part.linear, *part.packed));
  }
  built.kernels_ = table;
  layer = std::move(built);
  return {};
}

Status MultiHeadAttention::check(const Caller& caller, const ForwardArgs& args,
                                 Call& call) const noexcept {
  if (!kernels_) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "the layer is empty, expected one made by create()");
  }
  const MultiHeadAttentionConfig& c = config_;
  QKV_RETURN_IF_ERROR(check_dense(caller, "x", args.x, {kAny, kAny, c.d_model}));
  call.batch = args.x.extent(0);
  call.tq = args.x.extent(1);
  call.tk = call.tq;
  if (!args.context.absent()) {
    QKV_RETURN_IF_ERROR(
        check_dense(caller, "context", args.context, {call.batch, kAny, c.d_context}));
    call.tk = args.context.extent(1);
  } else if (c.d_context != c.d_model) {
    return refuse(StatusCode::kShapeMismatch, caller,
                  "@context is absent and @d_context is {}, expected {}", c.d_context,
                  Extents({call.batch, kAny, c.d_context}));
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, "y", args.y, {call.batch, call.tq, c.d_model}));

  call.activations = plan_activations(c, call.batch, call.tq, call.tk);
  // Planning reads shapes only; a pointer that is not null stands for memory that comes later.
  float later = 0.0F;
  call.attention = {
      .q = split_heads<const float>(&later, call.batch, call.tq, c.num_heads, c.d_k),
      .k = split_heads<const float>(&later, call.batch, call.tk, c.num_kv_heads, c.d_k),
      .v = split_heads<const float>(&later, call.batch, call.tk, c.num_kv_heads, c.d_v),
      .out = split_heads<float>(&later, call.batch, call.tq, c.num_heads, c.d_v),
      .options = args.options,
      .extras = args.extras,
      .cache = args.cache};
  QKV_RETURN_IF_ERROR(plan_attention(caller, call.attention, call.plan));
  QKV_RETURN_IF_ERROR(check_positions(caller.function, args, call));
  if (call.plan.table != kernels_) {
    return refuse(StatusCode::kUnsupported, caller,
                  "the layer was created for {} and {} is active, expected the same", kernels_->isa,
                  call.plan.table->isa);
  }
  return {};
}

Status MultiHeadAttention::check_positions(const char* function, const ForwardArgs& args,
                                           Call& call) const noexcept {
  if (!config_.rotary) {
    return {};
  }
  const Caller caller(function, kRotary);
  RotaryOptions rotary = *config_.rotary;
  if (args.cache && rotary.positions.absent() && rotary.cos.rank != 3) {
    rotary.offset = detail::saturated_sum(rotary.offset, args.cache->length());
  }
  const Index d = config_.d_k;
  QKV_RETURN_IF_ERROR(plan_rotary(caller, rotary, {call.batch, call.tq, d}, call.q_rotary));
  // In self-attention q and k are turned by the same rotations, made once.
  return args.context.absent()
             ? Status{}
             : plan_rotary(caller, rotary, {call.batch, call.tk, d}, call.k_rotary);
}

void MultiHeadAttention::rotate(const Call& call, float* q, float* k,
                                Workspace& workspace) const noexcept {
  const MultiHeadAttentionConfig& c = config_;
  const auto queries = split_heads(q, call.batch, call.tq, c.num_heads, c.d_k);
  const auto keys = split_heads(k, call.batch, call.tk, c.num_kv_heads, c.d_k);
  if (call.k_rotary.shape.d == 0) {
    rotate_in_place(call.q_rotary, workspace, {queries, keys});
    return;
  }
  rotate_in_place(call.q_rotary, workspace, {queries});
  rotate_in_place(call.k_rotary, workspace, {keys});
}

Status MultiHeadAttention::run(const ForwardArgs& args, Call& call,
                               Workspace& workspace) const noexcept {
  const KernelTable& table = *kernels_;
  float* q = workspace.take(call.activations.q);
  float* k = workspace.take(call.activations.k);
  float* v = workspace.take(call.activations.v);
  float* o = workspace.take(call.activations.o);
  ThreadPool* pool = workspace.pool();
  const Index queries = call.batch * call.tq;
  const Index keys = call.batch * call.tk;
  const float* context = args.context.absent() ? args.x.data : args.context.data;
  apply(table, pool, wq_, {args.x.data, queries, q});
  apply(table, pool, wk_, {context, keys, k});
  apply(table, pool, wv_, {context, keys, v});
  call.attention.q.data = q;
  call.attention.k.data = k;
  call.attention.v.data = v;
  call.attention.out.data = o;
  if (config_.rotary) {
    rotate(call, q, k, workspace);
  }
  QKV_RETURN_IF_ERROR(run_attention(call.plan, call.attention, workspace));
  apply(table, pool, wo_, {o, queries, args.y.data});
  return {};
}

Status MultiHeadAttention::forward(const ForwardArgs& args, Workspace& workspace) const noexcept {
  Call call;
  call.plan.threads = workspace.threads();
  QKV_RETURN_IF_ERROR(check(kForward, args, call));
  QKV_RETURN_IF_ERROR(workspace.begin(call.scratch()));
  QKV_RETURN_IF_ERROR(check_attention_memory(
      kForward, {"y", args.y}, {{{"x", args.x}, {"context", args.context}, {}}}, call.attention));
  return run(args, call, workspace);
}

std::size_t MultiHeadAttention::forward_scratch_bytes(const ForwardArgs& args,
                                                      int threads) const noexcept {
  Call call;
  call.plan.threads = threads;
  return check(kForward, args, call).ok() ? call.scratch() * sizeof(float) : 0;
}

}  // namespace qkv
