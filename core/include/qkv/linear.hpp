/// @file
/// Linear maps: y = x W + b, on weights as they are and on weights that were packed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

namespace kernels {
struct KernelTable;
}

/// How weight matrices are stored: y = x W has W as [in, out]; PyTorch's Linear keeps [out, in].
enum class WeightLayout : std::uint8_t {
  kInOut,  ///< [in, out]
  kOutIn,  ///< [out, in]
};

/// How a packed matrix keeps its weights.
enum class WeightFormat : std::uint8_t {
  kF32,   ///< 4 bytes each
  kBf16,  ///< 2 bytes each: rounded to 8 bits of mantissa
  /// 34 bytes for 32 weights of an output: whole numbers from -128 to 127 and one binary16 scale. Rows of x are rounded
  /// as well, to multiples of 1/127 of the largest of each 32; of 1/63 where the fastest dot product of bytes takes no eighth bit:
  /// on avx2 and avx512, and in WebAssembly's relaxed SIMD on processors of x86 without AVX-VNNI.
  kInt8,
  kF16,  ///< 2 bytes each: rounded to 11 bits of mantissa, magnitudes below 65,520
  /// 20 bytes for 32 weights of an output: whole numbers from 0 to 15, and a scale and an offset in binary16 of which each makes
  /// offset + scale number. Rows of x are rounded to multiples of 1/127 of the largest of each 32.
  kInt4,
  /// 148 bytes for 256 weights of an output, as NumberType::kQ4K has them, all of whose bits are kept. Takes nothing but rows of
  /// that type and WeightLayout::kOutIn. Rows of x are rounded as for kInt4.
  kQ4K,
};

/// One matrix, packed for the kernels once, with its bias. Layers make and hold these.
struct PackedLinear {
  AlignedBuffer panels;                      ///< the matrix in the order in which kernels read it
  AlignedBuffer bias;                        ///< [out], or empty
  Index in = 0;                              ///< width of x
  Index out = 0;                             ///< width of x W
  WeightFormat format = WeightFormat::kF32;  ///< of the panels
  /// Numbers of binary16 are kept times 2^10, which makes none of them subnormal: what the library does where that is faster.
  bool raised = false;
};

/// The arrays of linear().
struct LinearArgs {
  TensorView<const float> x;     ///< [..., in], rank 1 to 4, dense
  TensorView<const float> w;     ///< [in, out] or [out, in] as `layout` says, last axis contiguous
  TensorView<const float> bias;  ///< [out], or absent for none
  TensorView<float> out;         ///< y, [..., out], the other axes as in x, dense
  WeightLayout layout = WeightLayout::kInOut;  ///< how w is stored
};

/// y = x W + b: every row of the last axis of x times W, plus the bias.
///
/// `in` and `out` are at least 1; the other axes of x may be empty, and then nothing is computed. `out` shares no
/// memory with x, w or bias.
/// Threads of the workspace's pool share the columns of W and the rows of x; their number never changes a
/// bit, and neither does packing: Linear::forward() gives the same bits.
/// Scratch: 4 in min(out, 2^18 / in) bytes, rounded up to panels: W is packed in slices of columns. Weights
/// that are used again and again are better packed once, by Linear.
///
/// Errors: kShapeMismatch (rank or extents), kInvalidArgument (null data, strides, shared memory, no value of
/// WeightLayout), kOutOfMemory, kUnsupported. On error `out` is as it was.
/// Error bound: |computed - exact| <= 2^-24 (in + 2) (sum_i |x_i| |W_ij| + |b_j|) to first order, while no
/// product underflows (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1).
/// Source: ONNX Gemm-13 without alpha, beta and transposition of x; torch.nn.functional.linear with kOutIn.
Status linear(const LinearArgs& args, Workspace& workspace) noexcept;

/// The weights of a Linear.
struct LinearWeights {
  TensorView<const float> w;     ///< [in, out] or [out, in] as `layout` says, last axis contiguous
  TensorView<const float> bias;  ///< [out], or absent for none
  WeightLayout layout = WeightLayout::kInOut;  ///< how w is stored
};

/// A linear map whose weights are packed once, for all calls. Not changed by calls: threads may share one,
/// each with a workspace of its own.
class Linear {
 public:
  /// An empty map; create() makes a real one.
  Linear() noexcept = default;
  /// Move-only; the two change places.
  Linear(Linear&& other) noexcept { *this = std::move(other); }
  /// Likewise.
  Linear& operator=(Linear&& other) noexcept {
    std::swap(packed_, other.packed_);
    std::swap(kernels_, other.kernels_);
    return *this;
  }

  /// Copies and packs the weights: 4 in out bytes, `out` rounded up to whole panels. Errors as those of
  /// linear() for w, bias and layout. On error `map` is as it was.
  static Status create(const LinearWeights& weights, Linear& map) noexcept;

  /// y = x W + b as linear(): the same shapes, errors, bound and bits; also kInvalidArgument for an empty map,
  /// and kUnsupported when the active instruction set is not the one of create(). Takes no scratch, but the
  /// threads of the workspace's pool.
  Status forward(TensorView<const float> x, TensorView<float> out,
                 Workspace& workspace) const noexcept;

  /// Width of x; 0 when empty.
  [[nodiscard]] Index in() const noexcept { return packed_.in; }
  /// Width of y; 0 when empty.
  [[nodiscard]] Index out() const noexcept { return packed_.out; }

 private:
  PackedLinear packed_;
  const kernels::KernelTable* kernels_ = nullptr;
};

}  // namespace qkv
