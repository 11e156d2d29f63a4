// MultiHeadAttention::create(): checks a config and its weights, and packs them.
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "base/float_count.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "layers/multi_head_call.hpp"
#include "weights/packed_linear.hpp"

namespace qkv {
namespace {

using kernels::KernelTable;

/// Fills in the defaults and checks what can be checked without weights.
Status resolve(const Caller& caller, MultiHeadAttentionConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "d_model", c.d_model));
  QKV_RETURN_IF_ERROR(check_size(caller, "num_heads", c.num_heads));
  c.num_kv_heads = c.num_kv_heads == 0 ? c.num_heads : c.num_kv_heads;
  QKV_RETURN_IF_ERROR(check_size(caller, "num_kv_heads", c.num_kv_heads));
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
  QKV_RETURN_IF_ERROR(check_size(caller, "d_k", c.d_k));
  QKV_RETURN_IF_ERROR(check_size(caller, "d_v", c.d_v));
  constexpr Index kMost = std::numeric_limits<Index>::max() / 8;
  const Index widest = c.d_k > c.d_v ? c.d_k : c.d_v;
  if (c.num_heads > kMost / widest) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@num_heads is {}, expected at most {} for heads of width {}", c.num_heads,
                  kMost / widest, widest);
  }
  QKV_RETURN_IF_ERROR(check_layout(caller, "weight_layout", c.weight_layout));
  return check_size(caller, "d_context", c.d_context);
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
  const WeightMatrix fused{"wqkv", "bqkv", w.wqkv, w.bqkv, c.d_model, q + k + v, c.weight_layout};
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
  const Caller caller(function, kRotaryPrefix);
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
  QKV_RETURN_IF_ERROR(check("scaling.factors", rotary.scaling.factors));
  QKV_RETURN_IF_ERROR(buffer.reserve(count));
  float* to = buffer.data();
  copy_array(rotary.cos, to);
  copy_array(rotary.sin, to);
  copy_array(rotary.positions, to);
  copy_array(rotary.scaling.factors, to);
  return {};
}

/// The four arrays of the norms of q and k, in the order of qk_norm_.
struct QkArray {
  const char* name;
  TensorView<const float> MultiHeadAttentionWeights::* view;
  bool beta;
};
constexpr QkArray kQkArrays[] = {{"q_gamma", &MultiHeadAttentionWeights::q_gamma, false},
                                 {"k_gamma", &MultiHeadAttentionWeights::k_gamma, false},
                                 {"q_beta", &MultiHeadAttentionWeights::q_beta, true},
                                 {"k_beta", &MultiHeadAttentionWeights::k_beta, true}};

Status check_qk_array(const Caller& caller, const MultiHeadAttentionConfig& c, const QkArray& array,
                      const TensorView<const float>& view) noexcept {
  if (view.absent()) {
    return !c.qk_norm || array.beta
               ? Status{}
               : refuse(StatusCode::kInvalidArgument, caller, "{} is missing, expected {}",
                        Argument{array.name}, Extents({c.d_k}));
  }
  if (!c.qk_norm) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "{} is given, expected none without @qk_norm", Argument{array.name});
  }
  if (array.beta && *c.qk_norm == NormType::kRms) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "{} is {}, expected none: RMS normalisation has no beta", Argument{array.name},
                  Extents(view));
  }
  return check_array(caller, array.name, view, {c.d_k});
}

Status check_qk_norm(const Caller& caller, const MultiHeadAttentionConfig& c,
                     const MultiHeadAttentionWeights& w) noexcept {
  if (c.qk_norm && *c.qk_norm > NormType::kRms) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@qk_norm is {}, expected a value of NormType", *c.qk_norm);
  }
  QKV_RETURN_IF_ERROR(check_epsilon(caller, "qk_epsilon", c.qk_epsilon));
  for (const QkArray& array : kQkArrays) {
    QKV_RETURN_IF_ERROR(check_qk_array(caller, c, array, w.*array.view));
  }
  return {};
}

/// Copies the checked arrays; a beta that is absent becomes 0.
Status own_qk_norm(const MultiHeadAttentionConfig& c, const MultiHeadAttentionWeights& w,
                   AlignedBuffer& buffer) noexcept {
  if (!c.qk_norm) {
    return {};
  }
  const auto bytes = static_cast<std::size_t>(c.d_k) * sizeof(float);
  QKV_RETURN_IF_ERROR(buffer.reserve(capped_product(std::size(kQkArrays), c.d_k)));
  float* to = buffer.data();
  for (const QkArray& array : kQkArrays) {
    const TensorView<const float>& view = w.*array.view;
    if (view.absent()) {
      std::memset(to, 0, bytes);
    } else {
      std::memcpy(to, view.data, bytes);
    }
    to += c.d_k;
  }
  return {};
}

}  // namespace

Status MultiHeadAttention::create(const MultiHeadAttentionConfig& config,
                                  const MultiHeadAttentionWeights& weights,
                                  MultiHeadAttention& layer) noexcept {
  constexpr const char* kName = "MultiHeadAttention::create";
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  return build(kName, *table, config, weights, layer);
}

Status MultiHeadAttention::build(const Caller& caller, const KernelTable& table,
                                 const MultiHeadAttentionConfig& config,
                                 const MultiHeadAttentionWeights& weights,
                                 MultiHeadAttention& layer) noexcept {
  MultiHeadAttention built;
  MultiHeadAttentionConfig& c = built.config_;
  c = config;
  QKV_RETURN_IF_ERROR(resolve(caller, c));
  QKV_RETURN_IF_ERROR(own_rotary(caller.function, c, built.rotary_arrays_));
  MultiHeadAttentionWeights w = weights;
  QKV_RETURN_IF_ERROR(split_fused(caller, c, w));

  const struct {
    WeightMatrix linear;
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
  QKV_RETURN_IF_ERROR(check_qk_norm(caller, c, w));
  QKV_RETURN_IF_ERROR(own_qk_norm(c, w, built.qk_norm_));
  for (const auto& part : parts) {
    QKV_RETURN_IF_ERROR(pack_linear(table, part.linear, *part.packed));
  }
  built.kernels_ = &table;
  layer = std::move(built);
  return {};
}

}  // namespace qkv
