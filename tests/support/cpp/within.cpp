// Apart from compare.cpp, which the fuzz targets use without Catch2.
#include <catch2/catch_test_macros.hpp>

#include "compare.hpp"

namespace qkv::test {

void require_within(const Comparison& comparison, Bounds bounds) {
  for (const Quantity& quantity : comparison.quantities) {
    INFO(quantity.name() << ": " << quantity.worst());
    CHECK(quantity.ratio() <= 1.0);
    if (bounds == Bounds::kMeaningful) {
      CHECK(quantity.vacuity() <= bounds::kMeaningful);
    }
  }
}

}  // namespace qkv::test
