// Sequences and batches of length zero are results, not errors.
#include <catch2/catch_test_macros.hpp>

#include "layer.hpp"
#include "problem.hpp"

namespace qkv::test::empty_test {
namespace {

TEST_CASE("empty: no queries, nothing to do", "[attention][empty]") {
  Problem p({.batch = 2, .heads = 2, .kv_heads = 1, .tq = 0, .tk = 5, .dk = 4, .dv = 3}, 1);
  const Result& r = p.run();
  CHECK(r.out.empty());
}

TEST_CASE("empty: no batch rows, nothing to do", "[attention][empty]") {
  Problem p({.batch = 0, .heads = 2, .kv_heads = 1, .tq = 3, .tk = 5, .dk = 4, .dv = 3}, 2);
  CHECK(p.run().out.empty());
}

TEST_CASE("empty: no heads, nothing to do", "[attention][empty]") {
  Problem p({.batch = 2, .heads = 0, .kv_heads = 0, .tq = 3, .tk = 5, .dk = 4, .dv = 3}, 3);
  CHECK(p.run().out.empty());
}

TEST_CASE("empty: no query heads over some key heads, nothing to do", "[attention][empty]") {
  Problem p({.batch = 2, .heads = 0, .kv_heads = 2, .tq = 3, .tk = 5, .dk = 4, .dv = 3}, 4);
  CHECK(p.run().out.empty());
}

TEST_CASE("empty: no keys means that no key is allowed", "[attention][empty]") {
  for (bool causal : {false, true}) {
    CAPTURE(causal);
    Problem p({.batch = 2, .heads = 2, .kv_heads = 1, .tq = 9, .tk = 0, .dk = 4, .dv = 33}, 5);
    if (causal) {
      p.causal(4);
    }
    const Result& r = p.run();
    CHECK(r.out == std::vector<float>(r.out.size(), 0.0F));
    CHECK(r.lse == std::vector<float>(r.lse.size(), -INFINITY));
    CHECK(r.entropy == std::vector<float>(r.entropy.size(), 0.0F));
  }
}

TEST_CASE("empty: no keys with a mask and a bias of that shape", "[attention][empty]") {
  Problem p({.tq = 9, .tk = 0, .dk = 4, .dv = 3}, 6);
  p.mask_shape = {9, 0};
  p.bias_shape = {9, 0};
  const Result& r = p.run();
  CHECK(r.out == std::vector<float>(r.out.size(), 0.0F));
}

TEST_CASE("empty: null pointers are fine where there are no elements", "[attention][empty]") {
  AttentionArgs args;
  args.q = {nullptr, {1, 2, 0, 4}};
  args.k = {nullptr, {1, 2, 0, 4}};
  args.v = {nullptr, {1, 2, 0, 3}};
  args.out = {nullptr, {1, 2, 0, 3}};
  args.extras.weights = {nullptr, {1, 2, 0, 0}};
  args.extras.lse = {nullptr, {1, 2, 0}};
  args.extras.entropy = {nullptr, {1, 2, 0}};
  Workspace workspace;
  require_ok(attention(args, workspace));
}

TEST_CASE("empty: null pointers of views with strides, where there are no keys",
          "[attention][empty]") {
  // Heads lie side by side in rows, of which there are none: each would be at a place of its own after null.
  std::vector<float> q(2 * 3 * 4, 1.0F);
  std::vector<float> out(2 * 3 * 5, kUntouched);
  std::vector<float> lse(2 * 3, kUntouched);
  AttentionArgs args;
  args.q = split_heads<const float>(q.data(), 1, 3, 2, 4);
  args.k = split_heads<const float>(nullptr, 1, 0, 2, 4);
  args.v = split_heads<const float>(nullptr, 1, 0, 2, 5);
  args.out = split_heads(out.data(), 1, 3, 2, 5);
  args.options.bias = {nullptr, {2, 3, 0}};
  args.options.bias.strides = {1, 2, 1};
  args.options.mask = {nullptr, {2, 3, 0}};
  args.options.mask.strides = {1, 2, 1};
  args.extras.lse = {lse.data(), {1, 2, 3}};
  args.extras.weights = {nullptr, {1, 2, 3, 0}};
  args.extras.weights.strides = {6, 3, 1, 1};
  Workspace workspace;
  require_ok(attention(args, workspace));
  CHECK(out == std::vector<float>(out.size(), 0.0F));
  CHECK(lse == std::vector<float>(lse.size(), -INFINITY));
}

TEST_CASE("empty: a range of no weight rows", "[attention][empty]") {
  Problem p(square(5, 4), 7);
  for (Index at : {0, 3, 5}) {
    CAPTURE(at);
    AttentionArgs args = p.args();
    args.extras.row_begin = args.extras.row_end = at;
    args.extras.weights = {nullptr, {1, 1, 0, 5}};
    require_ok(attention(args, p.workspace));
  }
}

TEST_CASE("empty: a layer over no tokens", "[layer][empty]") {
  LayerProblem p({.d_model = 8, .num_heads = 2}, {.batch = 2, .tq = 0}, 8);
  CHECK(p.run().y.empty());
}

TEST_CASE("empty: a layer over no batch rows", "[layer][empty]") {
  LayerProblem p({.d_model = 8, .num_heads = 2}, {.batch = 0, .tq = 3}, 9);
  CHECK(p.run().y.empty());
}

TEST_CASE("empty: a layer with an empty context gives the output bias", "[layer][empty]") {
  LayerProblem p({.d_model = 8, .num_heads = 2, .d_context = 5}, {.batch = 2, .tq = 3, .tk = 0},
                 10);
  const LayerResult& r = p.run();
  for (std::size_t i = 0; i < r.y.size(); ++i) {
    REQUIRE(r.y[i] == p.bo[i % 8]);
  }
}

TEST_CASE("empty: an encoding of no positions", "[positional][empty]") {
  require_ok(sinusoidal_encoding({nullptr, {0, 8}}, 5, {}));
  require_ok(sinusoidal_encoding({nullptr, {0, 8}}, kMaxPosition, {}));
}

}  // namespace
}  // namespace qkv::test::empty_test
