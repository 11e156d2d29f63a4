/// @file
/// Spectra of weights and activations: singular values and eigenvalues of products of low rank, and principal components. A library
/// of its own, `qkv_spectra`, which is compiled with Eigen; who includes this header needs no Eigen.
///
/// Everything is computed in double precision by one thread and rounded to float once, off the hot path. All memory comes from the
/// workspace. Bits are the same on every machine as long as the version of Eigen is.
#pragma once

#include <span>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// What singular_values() writes, for A products with r = min(m, k, n). The vectors may be absent.
struct SingularValueOutputs {
  TensorView<float> values = {};  ///< [A, r], largest first
  TensorView<float> left = {};    ///< [A, m, r]: columns of length 1, orthogonal to each other
  TensorView<float> right = {};   ///< [A, n, r], likewise
};

/// Singular values of the products left[a] * right[a] without forming them: with left = Q1 R1 and right^T = Q2 R2 (Householder, with
/// pivots) they are those of R1 R2^T, which is at most k x k (two-sided Jacobi rotations). A product is
/// left_vectors * diag(values) * right_vectors^T. Of W_Q W_K^T they say how many directions a head compares, of W_V W_O how many
/// it writes (Elhage et al. 2021).
///
/// `left` is [A, m, k], `right` is [A, k, n], any strides; the outputs are apart from both and from each other. The element of largest
/// size of each left vector is positive, the first of those that are equal to within 2^-20 of it. A number that is not finite
/// gives NaN for its matrix; a value beyond float32 is infinite.
///
/// |error| <= 2^-24 value + 64 k 2^-53 |left|_F |right|_F of a value; each number of left_vectors * diag(values) * right_vectors^T is
/// within 2^-22 r + 64 k 2^-53 of that of the product, times |left|_F |right|_F. Time: O((m + n) k^2), and O(k^3) for each of about ten
/// sweeps. Scratch: 8 (2 (m + n) r + 7 r^2 + 256 r + 4096) bytes with vectors; 8 (m + n) r less without, and 16 (m + n) k more where r < k.
/// Errors; nothing is written then: kInvalidArgument (null data, strides below 0, arrays that overlap), kShapeMismatch (ranks, extents),
/// kOutOfMemory (the workspace could not grow).
Status singular_values(TensorView<const float> left, TensorView<const float> right,
                       const SingularValueOutputs& out, Workspace& workspace) noexcept;

/// Effective rank (Roy & Vetterli 2007): exp of the entropy of the singular values divided by their sum. n for n equal values, 1
/// for one alone, 0 when all are 0 or there are none; never above the rank. Precondition: no negative value.
[[nodiscard]] double effective_rank(std::span<const double> singular_values) noexcept;

/// Effective ranks of the products left[a] * right[a]: of W_Q W_K^T, the bilinear form that scores pairs of tokens, or of
/// W_V W_O, the map from what is attended to what is written.
///
/// `left` is [A, m, k], `right` is [A, k, n], any strides; `out` is [A] and apart from both. A number that is not finite gives NaN
/// for its matrix.
///
/// |error| <= (2^-24 + exp(t ln(k / t) + (k + 8) 2^-48) - 1) out with t = 128 k^2 2^-53 |left|_F |right|_F / S, S the sum of the
/// singular values, as long as t <= 1/2: probabilities that are t apart in sum have entropies t ln(k / t) apart (Cover & Thomas 2006,
/// theorem 17.3.3). Scratch and errors: those of singular_values().
Status effective_rank(TensorView<const float> left, TensorView<const float> right,
                      TensorView<float> out, Workspace& workspace) noexcept;

/// What eigenvalues() writes, for A products with r = min(m, k). Each may be absent.
struct EigenvalueOutputs {
  TensorView<float> real = {};  ///< [A, r], by size |real + i imaginary|, largest first
  TensorView<float> imaginary =
      {};  ///< [A, r]; of two that are conjugate the positive one is first
  TensorView<float> copying =
      {};  ///< [A], in [-1, 1]: sum of `real` / sum of sizes; 0 if all are 0
};

/// Eigenvalues of the products left[a] * right[a], which are [m, m]: the r that may differ from 0. Those of A B that are not 0 are those of
/// B A, so for k < m the eigenvalues of right * left are computed, which is k x k (Hessenberg form, then the QR algorithm with
/// double shifts: Golub & Van Loan 2013, 7.5).
///
/// With left = W_E W_V and right = W_O W_U they are those of the OV circuit of a head from tokens to logits: a head whose
/// eigenvalues are positive makes likelier what it attends to, and `copying` is 1 if all are (Elhage et al. 2021).
///
/// `left` is [A, m, k], `right` is [A, k, m], any strides; the outputs are apart from both and from each other. A number that is not
/// finite gives NaN for its matrix.
///
/// The results are the exact eigenvalues, each rounded to 2^-24 of its size, of a matrix that differs from the smaller product by at
/// most (m + 64 k) 2^-53 |left|_F |right|_F in the Frobenius norm; how far that moves an eigenvalue depends on its condition.
/// Time: O(m k^2 + 10 k^3) for k < m. Scratch: 8 (7 r^2 + 320 r + 4096) bytes.
/// Errors: those of singular_values().
Status eigenvalues(TensorView<const float> left, TensorView<const float> right,
                   const EigenvalueOutputs& out, Workspace& workspace) noexcept;

/// What pca() writes, for c components. Each may be absent.
struct PcaOutputs {
  TensorView<float> mean = {};         ///< [d]
  TensorView<float> components = {};   ///< [c, d]: rows of length 1, orthogonal to each other
  TensorView<float> variances = {};    ///< [c], largest first: sums of squares divided by n - 1
  TensorView<float> shares = {};       ///< [c]: parts of the variance of all d columns, 0 to 1
  TensorView<float> projections = {};  ///< [n, c]: (x - mean) components^T
};

/// Principal components of the rows of x (Pearson 1901): the orthogonal directions along which they vary most. They are the
/// eigenvectors of X^T X for centred rows X or, where there are fewer rows than columns, X^T u for those u of X X^T: of the
/// smaller matrix of both (tridiagonal form, then QR steps).
///
/// `x` is [n, d], any strides; 0 <= `count` <= min(n, d), the c of the outputs, which are apart from x and from each other. The element of
/// largest size of each component is positive, the first of those that are equal to within 2^-20 of it. A component whose
/// variance is at most 4 max(n, d) 2^-52 of the first is that of rounding alone: it and its projections are 0, as is its variance. A
/// number that is not finite gives NaN in all results, but the means of other columns. Of one row all variances are 0.
///
/// With V the variance of all columns together: |error| <= 2^-24 variance + 16 (n + d) 2^-53 V of a variance. A component
/// turns by at most about 16 (n + d) 2^-53 V / gap, the gap being the distance of its variance from the next. Time: O(n d min(n, d)),
/// and about 10 min(n, d)^3. Scratch, with
/// l = min(n, d): 8 (4 l^2 + 256 d + count (d + l + 128) + 4096) bytes, and 8 n d more for n < d.
/// Errors; nothing is written then: kInvalidArgument (null data, strides below 0, arrays that overlap), kShapeMismatch (ranks, extents),
/// kOutOfRange (`count`), kOutOfMemory (the workspace could not grow).
Status pca(TensorView<const float> x, Index count, const PcaOutputs& out,
           Workspace& workspace) noexcept;

}  // namespace qkv
