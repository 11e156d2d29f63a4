// Gradients of layer norm and RMS norm, from x alone: the mean and the variance are measured again.
#pragma once

#include "kernels/rows/norm.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// Sums over a row that its gradient needs, in double: of g = dy gamma and of g z, z = (x - mean) / deviation.
struct NormSums {
  double g, gz;
};

/// z of element i.
static inline double normalized_at(const RowNorm& norm, const float* x, Index i) noexcept {
  const float centred = (x[i] - norm.pivot) - norm.correction;
  return static_cast<double>(centred) * static_cast<double>(norm.inverse);
}

/// One row:
///
///     dx_i = (g_i - mean(g) - z_i mean(g z)) / deviation      RMS norm: without mean(g)
///     d gamma_i += dy_i z_i,  d beta_i += dy_i
///
/// In double, because dx is a small difference where z follows g; rows are few beside products.
template <class Isa>
inline void normalize_row_backward(const NormBackwardArgs& args, const MeasuredRow& of,
                                   const float* d_out, float* dx) noexcept {
  const auto& [norm, x, scale] = of;
  const Index n = args.norm.n;
  const float* gamma = args.norm.gamma;
  NormSums sums{};
  for (Index i = 0; i < n; ++i) {
    const double z = normalized_at(norm, x, i);
    const double g = static_cast<double>(d_out[i]) * (gamma ? static_cast<double>(gamma[i]) : 1.0);
    sums.g += g;
    sums.gz += g * z;
    if (args.d_gamma) {
      args.d_gamma[i] += static_cast<float>(static_cast<double>(d_out[i]) * z);
    }
    if (args.d_beta) {
      args.d_beta[i] += d_out[i];
    }
  }
  const double mean_g = args.norm.centre ? sums.g / static_cast<double>(n) : 0.0;
  const double mean_gz = sums.gz / static_cast<double>(n);
  const double inverse = static_cast<double>(norm.inverse) * static_cast<double>(scale);
  for (Index i = 0; i < n; ++i) {
    const double z = normalized_at(norm, x, i);
    const double g = static_cast<double>(d_out[i]) * (gamma ? static_cast<double>(gamma[i]) : 1.0);
    dx[i] = static_cast<float>((g - mean_g - z * mean_gz) * inverse);
  }
}

/// Of a row that is brought near 1, z stays as it is, and the deviation is that of the scaled row divided by the scale.
template <class Isa>
void normalize_backward(const NormBackwardArgs& args) noexcept {
  const Index n = args.norm.n;
  for (Index row = 0; row < args.norm.rows; ++row) {
    float* dx = args.dx + row * n;
    const MeasuredRow of = measure_any_row<Isa>(args.norm, args.norm.x + row * n, dx);
    normalize_row_backward<Isa>(args, of, args.d_out + row * n, dx);
  }
}

}  // namespace qkv::kernels
