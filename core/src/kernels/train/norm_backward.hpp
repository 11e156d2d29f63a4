// Gradients of layer norm and RMS norm, from x alone: the mean and the variance are measured again.
#pragma once

#include "kernels/norm.hpp"
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
inline void normalize_row_backward(const NormBackwardArgs& args, const RowNorm& norm,
                                   const float* x, const float* d_out, float scale,
                                   float* dx) noexcept {
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

/// Rows whose squares leave the range of float are brought near 1 as normalize() does, in `dx`: z stays as it is,
/// and the deviation of the row is that of the scaled one divided by the scale.
template <class Isa>
void normalize_backward(const NormBackwardArgs& args) noexcept {
  for (Index row = 0; row < args.norm.rows; ++row) {
    const float* x = args.norm.x + row * args.norm.n;
    float* dx = args.dx + row * args.norm.n;
    float scale = 1.0F;
    RowNorm norm = measure_row<Isa>(args.norm, x, args.norm.epsilon);
    if (!(norm.size >= 0x1p-80 && norm.size <= 0x1p100)) {
      scale = row_scale<Isa>(x, args.norm.n);
      for (Index i = 0; i < args.norm.n; ++i) {
        dx[i] = x[i] * scale;
      }
      x = dx;
      const double wide = scale;
      norm = measure_row<Isa>(args.norm, x, args.norm.epsilon * wide * wide);
    }
    normalize_row_backward<Isa>(args, norm, x, args.d_out + row * args.norm.n, scale, dx);
  }
}

}  // namespace qkv::kernels
