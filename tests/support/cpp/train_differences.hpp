// Central differences, which gradients in double precision are held to, and inner products of what is in float.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace qkv::test {

/// The greatest difference between `gradient` and central differences of loss() by x.
inline double off_central_differences(
    std::vector<double> x, const std::vector<double>& gradient,
    const std::function<double(const std::vector<double>&)>& loss) {
  constexpr double kStep = 1e-5;
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double kept = x[i];
    x[i] = kept + kStep;
    const double above = loss(x);
    x[i] = kept - kStep;
    const double below = loss(x);
    x[i] = kept;
    worst = std::max(worst, std::abs((above - below) / (2 * kStep) - gradient[i]));
  }
  return worst;
}

/// sum a b, in double.
inline double inner_product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

}  // namespace qkv::test
