// TensorView: extents, strides, addresses.
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <vector>

#include "problem.hpp"

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

TEST_CASE("view: one of more than four extents keeps four and is refused by name",
          "[view][any-isa]") {
  float memory[64] = {};
  struct {
    TensorView<float> view;
    std::array<Index, 16> behind;  // what must not be written
  } held{{memory, {1, 2, 1, 2, 3, 4, 5}}, {}};
  const TensorView<float>& five = held.view;
  CHECK(five.rank == 7);
  CHECK(five.size() == 4);
  CHECK(five.shape == std::array<Index, 4>{1, 2, 1, 2});
  CHECK(five.strides == std::array<Index, 4>{4, 2, 2, 1});
  CHECK(held.behind == std::array<Index, 16>{});

  const TensorView<float> four(memory, {1, 2, 1, 2});
  Workspace workspace;
  const auto refused = [](const Status& status, const char* name) {
    CAPTURE(status.message());
    CHECK(status.code() == StatusCode::kShapeMismatch);
    CHECK_THAT(status.message(), Catch::Matchers::ContainsSubstring(name));
    CHECK_THAT(status.message(), Catch::Matchers::ContainsSubstring("rank 7"));
  };
  float out[64] = {};
  const TensorView<float> to(out, {1, 2, 1, 2});
  const TensorView<float> too_long(out, {1, 2, 1, 2, 1, 1, 1});
  refused(softmax(five, to, {}), "x");
  refused(softmax(four, too_long, {}), "out");
  refused(layer_norm(five, to, {}), "x");
  refused(layer_norm(four, to, {.gamma = five}), "gamma");
  refused(rms_norm(four, too_long, {}), "out");
  refused(activate(five, to, Activation::kRelu), "x");
  refused(rotary_embedding(five, to, {}, workspace), "x");
  refused(linear({.x = five, .w = {memory, {2, 2}}, .bias = {}, .out = to}, workspace), "x");
  refused(linear({.x = four, .w = five, .bias = {}, .out = to}, workspace), "w");
  const auto attend = [&](auto change) {
    AttentionArgs args{.q = four, .k = four, .v = four, .out = to};
    change(args);
    return attention(args, workspace);
  };
  refused(attend([&](auto& a) { a.q = five; }), "q");
  refused(attend([&](auto& a) { a.k = five; }), "k");
  refused(attend([&](auto& a) { a.v = five; }), "v");
  refused(attend([&](auto& a) { a.out = too_long; }), "out");
  refused(attend([&](auto& a) { a.options.bias = five; }), "bias");
  refused(attend([&](auto& a) { a.options.additive_mask = five; }), "additive_mask");
  refused(attend([&](auto& a) { a.options.sinks = five; }), "sinks");
  refused(attend([&](auto& a) { a.extras.lse = too_long; }), "lse");
  refused(attend([&](auto& a) { a.extras.weights = too_long; }), "weights");
  KvCache cache;
  require_ok(KvCache::create({.batch = 1, .num_kv_heads = 2, .capacity = 4, .d_k = 2}, cache));
  refused(cache.append(five, four), "keys");
  refused(cache.read_keys(too_long), "keys");
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
