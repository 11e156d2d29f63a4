/// @file
/// The multi-head attention layer: projections around attention().
#pragma once

#include <optional>
#include <utility>

#include "qkv/attention.hpp"
#include "qkv/kv_cache.hpp"
#include "qkv/linear.hpp"
#include "qkv/norm.hpp"
#include "qkv/rotary.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

namespace kernels {
struct KernelTable;
}

/// The sizes of a multi-head attention layer.
struct MultiHeadAttentionConfig {
  Index d_model = 0;    ///< width of a token, at least 1
  Index num_heads = 0;  ///< query heads Hq, at least 1
  /// Key/value heads (grouped-query attention); 0 means num_heads. Divides num_heads.
  Index num_kv_heads = 0;
  /// Width of a head of q and k; 0 means d_model / num_heads, which must then be whole.
  Index d_k = 0;
  /// Width of a head of v; 0 means d_k.
  Index d_v = 0;
  /// Width of the context in cross-attention; 0 means d_model.
  Index d_context = 0;
  /// How matrices are stored.
  WeightLayout weight_layout = WeightLayout::kInOut;
  /// Rotates q and k after projection, each token by its position: rotary.offset, plus the length of
  /// the cache if there is one, plus its place in the call (`positions` and rows for each token are
  /// taken as they are). In cross-attention the context's tokens count from rotary.offset too. Arrays
  /// in it are copied. Default none.
  std::optional<RotaryOptions> rotary = std::nullopt;
  /// Normalises each head of q and of k, over its d_k elements, after projection and bias and before
  /// rotary (Henry et al. 2020; Qwen3 with kRms). Keys go into a cache normalised. Default none.
  std::optional<NormType> qk_norm = std::nullopt;
  /// Inside the root of that norm. Finite, >= 0.
  float qk_epsilon = 1e-5F;
};

/// Shapes for kInOut; kOutIn swaps the two extents of each matrix. Either wq, wk and wv, or wqkv
/// (columns in the order q, k, v; needs d_context == d_model). Biases are optional.
struct MultiHeadAttentionWeights {
  TensorView<const float> wq = {};  ///< [d_model, num_heads * d_k]
  TensorView<const float> wk = {};  ///< [d_context, num_kv_heads * d_k]
  TensorView<const float> wv = {};  ///< [d_context, num_kv_heads * d_v]
  /// [d_model, num_heads d_k + num_kv_heads d_k + num_kv_heads d_v]
  TensorView<const float> wqkv = {};
  TensorView<const float> wo = {};       ///< [num_heads * d_v, d_model]
  TensorView<const float> bq = {};       ///< [num_heads * d_k]
  TensorView<const float> bk = {};       ///< [num_kv_heads * d_k]
  TensorView<const float> bv = {};       ///< [num_kv_heads * d_v]
  TensorView<const float> bqkv = {};     ///< the three above, side by side; with wqkv
  TensorView<const float> bo = {};       ///< [d_model]
  TensorView<const float> q_gamma = {};  ///< [d_k], of every head; with qk_norm, and then required
  TensorView<const float> k_gamma = {};  ///< [d_k], likewise
  TensorView<const float> q_beta = {};   ///< [d_k], optional; with NormType::kLayer
  TensorView<const float> k_beta = {};   ///< [d_k], likewise
};

/// Multi-head attention (Vaswani et al. 2017, section 3.2.2), with C = context or, without one, x:
///
///     Q = x Wq + bq,  K = C Wk + bk,  V = C Wv + bv       split into heads
///     Q, K = norm(Q), norm(K)                             each head, if configured
///     Q, K = rotary(Q), rotary(K)                         if configured
///     O = attention(Q, K, V)                              heads side by side
///     y = O Wo + bo
///
/// Copies and packs its weights when created; the arrays passed to create() may go away. Weights
/// are packed for the instruction set active at that moment; after select_isa(), create the layer
/// again (forward() returns kUnsupported until then).
class MultiHeadAttention {
 public:
  /// An empty layer; forward() on it returns kInvalidArgument.
  MultiHeadAttention() noexcept = default;
  /// Move-only; a layer that was moved from is empty.
  MultiHeadAttention(MultiHeadAttention&& other) noexcept { *this = std::move(other); }
  /// Move-only; this layer frees what it held.
  MultiHeadAttention& operator=(MultiHeadAttention&& other) noexcept {
    config_ = std::exchange(other.config_, {});
    wq_ = std::move(other.wq_);
    wk_ = std::move(other.wk_);
    wv_ = std::move(other.wv_);
    wo_ = std::move(other.wo_);
    rotary_arrays_ = std::move(other.rotary_arrays_);
    qk_norm_ = std::move(other.qk_norm_);
    kernels_ = std::exchange(other.kernels_, nullptr);
    return *this;
  }

  /// Checks everything, then builds. On error `layer` is as it was.
  /// Errors: kInvalidArgument (a missing weight, both wq/wk/wv and wqkv, wqkv with d_context !=
  /// d_model, a bias that has no matrix, a weight_layout or qk_norm that is none, qk_epsilon not
  /// finite or negative, a gamma that is missing with qk_norm or given without it, a beta without
  /// NormType::kLayer), kShapeMismatch (extents that do not follow from `config`), kOutOfRange
  /// (sizes below 1 or whose product no address reaches, d_model not a multiple of num_heads when
  /// d_k is left to it, num_heads not a multiple of num_kv_heads), kOutOfMemory, kUnsupported.
  static Status create(const MultiHeadAttentionConfig& config,
                       const MultiHeadAttentionWeights& weights,
                       MultiHeadAttention& layer) noexcept;

  /// What forward() reads and writes.
  struct ForwardArgs {
    TensorView<const float> x;  ///< [B, T, d_model], contiguous
    /// [B, Tk, d_context], contiguous; absent = self-attention
    TensorView<const float> context = {};
    TensorView<float> y;            ///< [B, T, d_model], contiguous; must not overlap the inputs
    AttentionOptions options = {};  ///< as for attention(), with Hq = num_heads
    AttentionExtras extras = {};    ///< as for attention()
    /// When given, the keys and values of the context's tokens are appended to it and the queries
    /// read all it then holds, as attention() does: decoding one token at a time gives the rows of
    /// one causal pass over all of them.
    KvCache* cache = nullptr;
  };

  /// Error bound: that of a product with inner size n, u (n + 2) (sum |a| |b| + |bias|) per
  /// element, through the three projections, the norms of q and k (qkv/norm.hpp), attention() on the
  /// arrays they give, and the output projection; u = 2^-24.
  /// Errors: those of attention(), those of rotary_embedding() for positions, kShapeMismatch when x, context, y or the cache do
  /// not fit the layer, kInvalidArgument for an empty layer, kUnsupported after select_isa(). Nothing is written on error.
  Status forward(const ForwardArgs& args, Workspace& workspace) const noexcept;

  /// Bytes of workspace forward() takes with so many threads: Q, K, V and O in full, and what
  /// attention() takes. 0 for arguments that forward() refuses, unless it refuses them because arrays share memory.
  [[nodiscard]] std::size_t forward_scratch_bytes(const ForwardArgs& args,
                                                  int threads = 1) const noexcept;

  /// As given to create(), with every size filled in.
  [[nodiscard]] const MultiHeadAttentionConfig& config() const noexcept { return config_; }

 private:
  friend class TransformerBlock;  // checks its layers before it runs any of them
  struct Call;
  /// create() and the checks of forward(), in the name of `caller`.
  static Status build(const Caller& caller, const kernels::KernelTable& table,
                      const MultiHeadAttentionConfig& config,
                      const MultiHeadAttentionWeights& weights, MultiHeadAttention& layer) noexcept;
  Status check(const Caller& caller, const kernels::KernelTable& table, const ForwardArgs& args,
               Call& call) const noexcept;
  Status check_positions(const char* function, const ForwardArgs& args, Call& call) const noexcept;
  void normalize(Index array, float* heads, Index count, ThreadPool* pool) const noexcept;
  void rotate(const Call& call, float* q, float* k, Workspace& workspace) const noexcept;
  /// Computes. `call` as check() left it.
  void run(const ForwardArgs& args, Call& call, Workspace& workspace) const noexcept;

  MultiHeadAttentionConfig config_;
  PackedLinear wq_, wk_, wv_, wo_;
  AlignedBuffer rotary_arrays_;  ///< copies of the arrays that config_.rotary points to
  AlignedBuffer qk_norm_;        ///< gamma of q, gamma of k, beta of q, beta of k, [d_k] each
  const kernels::KernelTable* kernels_ = nullptr;  ///< what the weights are packed for
};

}  // namespace qkv
