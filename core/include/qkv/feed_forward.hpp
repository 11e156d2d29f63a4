/// @file
/// The position-wise feed-forward layer.
#pragma once

#include <cstdint>
#include <utility>

#include "qkv/linear.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

namespace kernels {
struct KernelTable;
}

/// The functions of qkv/activation.hpp, and the gated unit.
enum class FeedForwardActivation : std::uint8_t {
  kRelu,      ///< Activation::kRelu
  kGelu,      ///< Activation::kGelu
  kGeluTanh,  ///< Activation::kGeluTanh
  kSilu,      ///< Activation::kSilu
  kSwiglu,    ///< silu(x Wgate + bgate) * (x W1 + b1)
};

/// The sizes of a feed-forward layer.
struct FeedForwardConfig {
  Index d_model = 0;         ///< width of a token, at least 1
  Index d_feed_forward = 0;  ///< width of h, at least 1
  /// Default the exact GELU.
  FeedForwardActivation activation = FeedForwardActivation::kGelu;
  /// How w1, w2 and w_gate are stored.
  WeightLayout weight_layout = WeightLayout::kInOut;
};

/// Shapes for kInOut; kOutIn swaps the two extents of each matrix. Biases are optional; w_gate and
/// b_gate go with kSwiglu only.
struct FeedForwardWeights {
  TensorView<const float> w1 = {};      ///< [d_model, d_feed_forward]
  TensorView<const float> b1 = {};      ///< [d_feed_forward]
  TensorView<const float> w2 = {};      ///< [d_feed_forward, d_model]
  TensorView<const float> b2 = {};      ///< [d_model]
  TensorView<const float> w_gate = {};  ///< [d_model, d_feed_forward]
  TensorView<const float> b_gate = {};  ///< [d_feed_forward]
};

/// The feed-forward layer (Vaswani et al. 2017, section 3.3), for each token by itself:
///
///     h = f(x W1 + b1)                                    f the activation
///     h = silu(x Wgate + bgate) * (x W1 + b1)             SwiGLU (Shazeer 2020)
///     y = h W2 + b2
///
/// Copies and packs its weights when created; the arrays passed to create() may go away. Weights
/// are packed for the instruction set active at that moment; after select_isa(), create the layer
/// again (forward() returns kUnsupported until then).
class FeedForward {
 public:
  /// An empty layer; forward() on it returns kInvalidArgument.
  FeedForward() noexcept = default;
  /// Move-only; a layer that was moved from is empty.
  FeedForward(FeedForward&& other) noexcept { *this = std::move(other); }
  /// Move-only; this layer frees what it held.
  FeedForward& operator=(FeedForward&& other) noexcept {
    config_ = std::exchange(other.config_, {});
    w1_ = std::move(other.w1_);
    w2_ = std::move(other.w2_);
    w_gate_ = std::move(other.w_gate_);
    kernels_ = std::exchange(other.kernels_, nullptr);
    return *this;
  }

  /// Checks everything, then builds. On error `layer` is as it was.
  /// Errors: kInvalidArgument (a missing weight, w_gate or b_gate without kSwiglu, an activation or a
  /// weight_layout that is none), kShapeMismatch (extents that do not follow from `config`),
  /// kOutOfRange (sizes below 1), kOutOfMemory, kUnsupported.
  static Status create(const FeedForwardConfig& config, const FeedForwardWeights& weights,
                       FeedForward& layer) noexcept;

  /// What forward() reads and writes.
  struct ForwardArgs {
    TensorView<const float> x;  ///< [B, T, d_model], contiguous
    TensorView<float> y;        ///< [B, T, d_model], contiguous; may be x itself
  };

  /// Tokens are independent, bit for bit, of each other and of how many there are.
  ///
  /// Error bound, with u = 2^-24, product(n) = u (n + 2) (sum |a| |b| + |bias|) for a sum of n
  /// products, and |f'| at most 1 for ReLU, 1.13 for both GELUs, 1.1 for SiLU:
  ///
  ///     h: |f'| product(d_model), plus the bound of f in qkv/activation.hpp; for SwiGLU with the
  ///        gate g = silu(x Wgate + bgate) so bounded by eg, and a = x W1 + b1 by ea:
  ///        eg |a| + |g| ea + eg ea + u (|g| + eg) (|a| + ea), plus 2^-149
  ///     y: sum of the bound of h times |W2|, plus product(d_feed_forward) of h so enlarged
  ///
  /// Errors: kInvalidArgument (an empty layer, a null pointer where elements exist, an array that
  /// is not contiguous, y partly on x), kShapeMismatch, kOutOfMemory, kUnsupported. Nothing is
  /// written then.
  Status forward(const ForwardArgs& args, Workspace& workspace) const noexcept;

  /// Bytes of workspace forward() takes: h for at most 192 tokens, twice for SwiGLU. 0 for
  /// arguments that forward() would refuse.
  [[nodiscard]] std::size_t forward_scratch_bytes(const ForwardArgs& args) const noexcept;

  /// As given to create().
  [[nodiscard]] const FeedForwardConfig& config() const noexcept { return config_; }

 private:
  friend class TransformerBlock;  // runs its layers in one workspace
  /// create() in the name of `caller`.
  static Status build(const Caller& caller, const kernels::KernelTable& table,
                      const FeedForwardConfig& config, const FeedForwardWeights& weights,
                      FeedForward& layer) noexcept;
  Status check(const ForwardArgs& args) const noexcept;
  /// Floats that run() takes from the workspace for so many tokens.
  [[nodiscard]] std::size_t scratch(Index tokens) const noexcept;
  /// [tokens, d_model] to [tokens, d_model]; cannot fail.
  void run(const float* x, Index tokens, float* y, Workspace& workspace) const noexcept;

  FeedForwardConfig config_;
  PackedLinear w1_, w2_, w_gate_;
  const kernels::KernelTable* kernels_ = nullptr;  ///< what the weights are packed for
};

}  // namespace qkv
