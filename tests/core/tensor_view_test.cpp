// TensorView: extents, strides, addresses.
#include <catch2/catch_test_macros.hpp>

#include <vector>

#include "qkv/tensor_view.hpp"

namespace qkv::test::tensor_view_test {
namespace {

TEST_CASE("view: dense strides, the last axis fastest", "[view][any-isa]") {
  float memory[24];
  const TensorView<float> view(memory, {2, 3, 4});
  CHECK(view.rank == 3);
  CHECK(view.size() == 24);
  CHECK(view.extent(0) == 2);
  CHECK(view.extent(2) == 4);
  CHECK(view.stride(0) == 12);
  CHECK(view.stride(1) == 4);
  CHECK(view.stride(2) == 1);
  CHECK(view.at(1, 2, 3) == memory + 23);
  CHECK(view.at(1) == memory + 12);
  CHECK(!view.absent());
}

TEST_CASE("view: absent until given an array", "[view][any-isa]") {
  const TensorView<float> view;
  CHECK(view.absent());
  CHECK(view.data == nullptr);
  CHECK(!TensorView<float>(nullptr, {0}).absent());
  CHECK(TensorView<float>(nullptr, {3, 0, 4}).size() == 0);
}

TEST_CASE("view: mutable data read through a view of const", "[view][any-isa]") {
  float memory[6] = {};
  const TensorView<float> view(memory, {2, 3});
  const TensorView<const float> reading = view;
  memory[4] = 5.0F;
  CHECK(*reading.at(1, 1) == 5.0F);
  CHECK(reading.shape == view.shape);
  CHECK(reading.strides == view.strides);
}

TEST_CASE("split_heads: heads side by side seen apart", "[view][any-isa]") {
  std::vector<int> memory(2 * 3 * 4 * 5);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] = static_cast<int>(i);
  }
  const auto view = split_heads(memory.data(), 2, 3, 4, 5);
  CHECK(view.shape == std::array<Index, 4>{2, 4, 3, 5});
  for (Index b = 0; b < 2; ++b) {
    for (Index h = 0; h < 4; ++h) {
      for (Index t = 0; t < 3; ++t) {
        for (Index d = 0; d < 5; ++d) {
          REQUIRE(*view.at(b, h, t, d) == ((b * 3 + t) * 4 + h) * 5 + d);
        }
      }
    }
  }
}

}  // namespace
}  // namespace qkv::test::tensor_view_test
