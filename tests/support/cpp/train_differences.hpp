// Inner products of what is in float.
#pragma once

#include <cstddef>
#include <vector>

namespace qkv::test {

/// sum a b, in double.
inline double inner_product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

}  // namespace qkv::test
