/// @file
/// Transformer blocks: attention and feed-forward layers with residuals and norms around them.
#pragma once

#include <cstdint>
#include <utility>

#include "qkv/feed_forward.hpp"
#include "qkv/multi_head_attention.hpp"
#include "qkv/norm.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// The sizes and kinds of a block's parts.
struct TransformerBlockConfig {
  /// Of the self-attention, which alone has rotary, and of the cross-attention, which alone has
  /// d_context. qk_norm and qk_epsilon hold for both. Its weight_layout is that of the feed-forward layer too.
  MultiHeadAttentionConfig attention;
  Index d_feed_forward = 0;                  ///< width inside the feed-forward layer, at least 1
  NormPlacement norm = NormPlacement::kPre;  ///< of every sub-layer: kPre or kPost
  NormType norm_type = NormType::kLayer;     ///< of every sub-layer, over d_model
  /// Of the feed-forward layer.
  FeedForwardActivation activation = FeedForwardActivation::kGelu;
  /// A cross-attention sub-layer between self-attention and feed-forward: the decoder of an
  /// encoder-decoder.
  bool cross_attention = false;
  /// Of all norms. Finite, >= 0.
  float epsilon = 1e-5F;
};

/// Of one norm.
struct NormWeights {
  TensorView<const float> gamma = {};  ///< [d_model]
  TensorView<const float> beta = {};   ///< [d_model], optional; not for kRms
};

/// The weights of a block. cross and norm_cross go with cross_attention only.
struct TransformerBlockWeights {
  MultiHeadAttentionWeights attention = {};  ///< of the self-attention
  MultiHeadAttentionWeights cross = {};      ///< of the cross-attention
  NormWeights norm1 = {};                    ///< of the self-attention
  NormWeights norm_cross = {};               ///< of the cross-attention
  NormWeights norm2 = {};                    ///< of the feed-forward layer
  FeedForwardWeights feed_forward = {};      ///< of the feed-forward layer
};

/// One block of a transformer. With `context` for the output of the encoder:
///
///     kPre:  h = x + attention(norm1(x))             kPost:  h = norm1(x + attention(x))
///            h = h + cross(norm_cross(h), context)           h = norm_cross(h + cross(h, context))
///            y = h + feed_forward(norm2(h))                  y = norm2(h + feed_forward(h))
///
/// The line in the middle only with cross_attention. A stack of kPre blocks usually ends with one
/// more norm, which is layer_norm() or rms_norm().
///
/// Copies and packs its weights when created; the arrays passed to create() may go away. Weights
/// are packed for the instruction set active at that moment; after select_isa(), create the block
/// again (forward() returns kUnsupported until then).
class TransformerBlock {
 public:
  /// An empty block; forward() on it returns kInvalidArgument.
  TransformerBlock() noexcept = default;
  /// Move-only; a block that was moved from is empty.
  TransformerBlock(TransformerBlock&& other) noexcept { *this = std::move(other); }
  /// Move-only; this block frees what it held.
  TransformerBlock& operator=(TransformerBlock&& other) noexcept {
    config_ = std::exchange(other.config_, {});
    attention_ = std::move(other.attention_);
    cross_ = std::move(other.cross_);
    feed_forward_ = std::move(other.feed_forward_);
    norm1_ = std::move(other.norm1_);
    norm_cross_ = std::move(other.norm_cross_);
    norm2_ = std::move(other.norm2_);
    kernels_ = std::exchange(other.kernels_, nullptr);
    return *this;
  }

  /// Checks everything, then builds. On error `block` is as it was.
  /// Errors: those of MultiHeadAttention::create() and FeedForward::create(), in the name of this
  /// function and with "attention." or "cross." before the argument; kInvalidArgument (a gamma that
  /// is missing, a beta with kRms, cross or norm_cross without cross_attention, a value that is
  /// none of its enumeration, NormPlacement::kAfter, epsilon not finite or negative, d_context without cross_attention),
  /// kShapeMismatch.
  static Status create(const TransformerBlockConfig& config, const TransformerBlockWeights& weights,
                       TransformerBlock& block) noexcept;

  /// What forward() reads and writes.
  struct ForwardArgs {
    TensorView<const float> x;  ///< [B, T, d_model], contiguous
    /// [B, Tk, d_context], contiguous; with cross_attention only
    TensorView<const float> context = {};
    /// [B, T, d_model], contiguous. May be x itself; must not overlap anything else.
    TensorView<float> y;
    AttentionOptions options = {};  ///< of the self-attention
    AttentionExtras extras = {};    ///< of the self-attention
    /// Of the self-attention, which appends the keys and values of these tokens to it.
    KvCache* cache = nullptr;
    /// How many tokens of the context each batch row uses, [B], 0 to Tk; the rest are never read. Absent
    /// means all. With cross_attention only.
    TensorView<const std::int32_t> context_key_lengths = {};
  };

  /// Everything is checked, and all memory taken, before anything is computed.
  ///
  /// y has the bits of the parts called one after the other, with one rounding for each sum, so
  /// each part keeps its own error bound for the input it is given. How these errors add up depends
  /// on the weights; with up to 129 features and weights that keep the variance of what they
  /// multiply, and without qk_norm, which enlarges the errors of heads that are nearly constant,
  ///
  ///     |y - exact| <= 4e-6 max(1, |exact|)
  ///
  /// Errors: those of MultiHeadAttention::forward(), in the name of this function, and
  /// kInvalidArgument for a context or context_key_lengths without cross_attention or a context
  /// that is missing. Nothing is written then, and a cache keeps its length and contents.
  Status forward(const ForwardArgs& args, Workspace& workspace) const noexcept;

  /// Bytes of workspace forward() takes with so many threads: two arrays like x (one with kPost), and
  /// what the largest of the sub-layers takes. 0 for arguments that forward() refuses, unless it refuses them because arrays
  /// share memory.
  [[nodiscard]] std::size_t forward_scratch_bytes(const ForwardArgs& args,
                                                  int threads = 1) const noexcept;

  /// As given to create(), with every size of the attention filled in.
  [[nodiscard]] const TransformerBlockConfig& config() const noexcept { return config_; }

 private:
  struct Call;
  /// gamma, and beta where there is one.
  struct Norm {
    AlignedBuffer gamma, beta;
  };
  /// Which sub-layer to run, and on what.
  enum class Part : std::uint8_t { kAttention, kCross, kFeedForward };

  Status build_norms(const TransformerBlockWeights& weights) noexcept;
  Status build_layers(const TransformerBlockWeights& weights) noexcept;
  Status check(const kernels::KernelTable& table, const ForwardArgs& args,
               Call& call) const noexcept;
  Status check_context(const kernels::KernelTable& table, const ForwardArgs& args,
                       Call& call) const noexcept;
  void normalize(const Norm& norm, const float* x, const Call& call, float* out) const noexcept;
  void run_part(Part part, const float* x, Call& call, Workspace& workspace) const noexcept;
  void sublayer(Part part, const float* x, Call& call, Workspace& workspace) const noexcept;

  TransformerBlockConfig config_;
  MultiHeadAttention attention_, cross_;
  FeedForward feed_forward_;
  Norm norm1_, norm_cross_, norm2_;
  const kernels::KernelTable* kernels_ = nullptr;  ///< the ones that the weights are packed for
};

}  // namespace qkv
