#include "qkv/multi_head_attention.hpp"

#include "attention/kv_cache_access.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "layers/multi_head_call.hpp"
#include "rows/over_rows.hpp"
#include "weights/linear_product.hpp"
#include "weights/packed_linear.hpp"

namespace qkv {
namespace {

using kernels::KernelTable;
using Activations = MultiHeadActivations;

constexpr const char* kLayerForward = "MultiHeadAttention::forward";

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

}  // namespace

Status MultiHeadAttention::check(const Caller& caller, const KernelTable& table,
                                 const ForwardArgs& args, Call& call) const noexcept {
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
  QKV_RETURN_IF_ERROR(plan_attention(caller, table, call.attention, call.plan));
  QKV_RETURN_IF_ERROR(check_positions(caller.function, args, call));
  return check_same_kernels(caller, "the layer", kernels_, &table);
}

Status MultiHeadAttention::check_positions(const char* function, const ForwardArgs& args,
                                           Call& call) const noexcept {
  if (!config_.rotary) {
    return {};
  }
  const Caller caller(function, kRotaryPrefix);
  const KernelTable& table = *call.plan.table;
  RotaryOptions rotary = *config_.rotary;
  if (args.cache && rotary.positions.absent() && rotary.cos.rank != 3) {
    rotary.offset = detail::saturated_sum(rotary.offset, args.cache->length());
  }
  const Index d = config_.d_k;
  QKV_RETURN_IF_ERROR(plan_rotary(caller, table, rotary, {call.batch, call.tq, d}, call.q_rotary));
  // In self-attention q and k are turned by the same rotations, made once.
  return args.context.absent()
             ? Status{}
             : plan_rotary(caller, table, rotary, {call.batch, call.tk, d}, call.k_rotary);
}

/// The norm of `count` heads in place: of q with array 0, of k with array 1.
void MultiHeadAttention::normalize(Index array, float* heads, Index count,
                                   ThreadPool* pool) const noexcept {
  const Index n = config_.d_k;
  const bool centre = config_.qk_norm == NormType::kLayer;
  const float* gamma = qk_norm_.data() + array * n;
  normalize_rows(*kernels_, pool,
                 {.rows = count,
                  .n = n,
                  .x = heads,
                  .out = heads,
                  .gamma = gamma,
                  .beta = centre ? gamma + 2 * n : nullptr,
                  .epsilon = config_.qk_epsilon,
                  .centre = centre});
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

void MultiHeadAttention::run(const ForwardArgs& args, Call& call,
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
  if (config_.qk_norm) {
    normalize(0, q, queries * config_.num_heads, pool);
    normalize(1, k, keys * config_.num_kv_heads, pool);
  }
  if (config_.rotary) {
    rotate(call, q, k, workspace);
  }
  run_attention(call.plan, call.attention, workspace);
  apply(table, pool, wo_, {o, queries, args.y.data});
}

Status MultiHeadAttention::forward(const ForwardArgs& args, Workspace& workspace) const noexcept {
  Call call;
  call.plan.threads = workspace.threads();
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kLayerForward, table));
  QKV_RETURN_IF_ERROR(check(kLayerForward, *table, args, call));
  QKV_RETURN_IF_ERROR(workspace.begin(call.scratch()));
  QKV_RETURN_IF_ERROR(check_attention_memory(kLayerForward, {"y", args.y},
                                             {{{"x", args.x}, {"context", args.context}, {}}},
                                             call.attention));
  QKV_RETURN_IF_ERROR(KvCacheAccess::make_room(args.cache, call.tk));
  run(args, call, workspace);
  return {};
}

std::size_t MultiHeadAttention::forward_scratch_bytes(const ForwardArgs& args,
                                                      int threads) const noexcept {
  Call call;
  call.plan.threads = threads;
  const KernelTable* table = active_kernels();
  return table && check(kLayerForward, *table, args, call).ok() ? call.scratch() * sizeof(float)
                                                                : 0;
}

}  // namespace qkv
