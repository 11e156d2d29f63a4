// What the core allocates, what it announces, and what it touches.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "guarded.hpp"
#include "layer.hpp"

namespace qkv::test::memory_test {
namespace {

TEST_CASE("memory: smaller calls after a larger one allocate nothing", "[memory]") {
  Workspace workspace;
  Problem large(square(300, 32), 2);
  require_ok(attention(large.args(), workspace));
  const std::size_t before = allocation_count();
  for (Index t = 1; t <= 300; t += 13) {
    Problem small(square(t, 32), 3);
    require_ok(attention(small.args(), workspace));
  }
  CHECK(allocation_count() == before);
}

TEST_CASE("memory: scratch is linear in the length and small beside the inputs", "[memory]") {
  const auto bytes = [](Index t) {
    AttentionArgs args;
    float element = 0.0F;
    args.q = args.k = args.v = {&element, {1, 1, t, 64}};
    args.out = {&element, {1, 1, t, 64}};
    args.extras.weights = {};
    return static_cast<double>(attention_scratch_bytes(args));
  };
  const double inputs = 3.0 * 8192 * 64 * sizeof(float);
  CHECK(bytes(8192) > 0.0);
  CHECK(bytes(8192) < inputs);
  CHECK(bytes(16384) - bytes(8192) < 1.01 * inputs);
  CHECK(bytes(16384) < 2.01 * bytes(8192));
}

TEST_CASE("memory: scratch does not depend on batch and heads", "[memory]") {
  Problem one({.batch = 1, .heads = 1, .kv_heads = 1, .tq = 40, .tk = 50, .dk = 8, .dv = 8}, 5);
  Problem many({.batch = 3, .heads = 4, .kv_heads = 2, .tq = 40, .tk = 50, .dk = 8, .dv = 8}, 6);
  CHECK(attention_scratch_bytes(one.args()) == attention_scratch_bytes(many.args()));
}

TEST_CASE("memory: workspaces give back what they took", "[memory]") {
  const std::size_t before = allocated_bytes();
  {
    Problem p(square(100, 16), 7);
    p.run();
    CHECK(allocated_bytes() == before + p.workspace.capacity_bytes());
    p.workspace.release();
    CHECK(allocated_bytes() == before);
    CHECK(p.workspace.capacity_bytes() == 0);
    p.run();
  }
  CHECK(allocated_bytes() == before);
}

TEST_CASE("memory: layers give back what they took", "[memory][layer]") {
  const std::size_t before = allocated_bytes();
  {
    LayerProblem p({.d_model = 24, .num_heads = 2}, {.tq = 5}, 8);
    p.create(p.weights());
    const std::size_t one = allocated_bytes();
    CHECK(one > before);
    p.create(p.weights());  // over the first
    CHECK(allocated_bytes() == one);
  }
  CHECK(allocated_bytes() == before);
}

TEST_CASE("memory: blocks are aligned, disjoint and as long as asked for", "[memory]") {
  constexpr std::size_t kCounts[] = {1, 15, 16, 17, 0, 100};
  std::size_t total = 0;
  for (std::size_t count : kCounts) {
    total += Workspace::padded(count);
  }
  Workspace workspace;
  require_ok(workspace.begin(total));
  const float* end = nullptr;
  for (std::size_t count : kCounts) {
    CAPTURE(count);
    const float* block = workspace.take(count);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % kAlignment == 0);
    CHECK(block >= end);
    end = block + count;
  }
  require_ok(workspace.begin(total));
  CHECK(static_cast<std::size_t>(end - workspace.take(1)) <= total);
}

TEST_CASE("memory: padded() is the next multiple of a cache line", "[memory]") {
  CHECK(Workspace::padded(0) == 0);
  CHECK(Workspace::padded(1) == 16);
  CHECK(Workspace::padded(16) == 16);
  CHECK(Workspace::padded(17) == 32);
}

TEST_CASE("memory: a buffer moves without copying and leaves nothing behind", "[memory]") {
  AlignedBuffer a;
  require_ok(a.reserve(100));
  float* block = a.data();
  AlignedBuffer b(std::move(a));
  CHECK(b.data() == block);
  CHECK(a.data() == nullptr);  // NOLINT(bugprone-use-after-move)
  CHECK(a.capacity() == 0);
  AlignedBuffer c;
  c = std::move(b);
  CHECK(c.data() == block);
  require_ok(c.reserve(50));
  CHECK(c.data() == block);
  CHECK(c.capacity() >= 100);
}

TEST_CASE("memory: moving over a buffer frees the block that was there", "[memory]") {
  const std::size_t before = allocated_bytes();
  AlignedBuffer first;
  AlignedBuffer second;
  require_ok(first.reserve(100));
  const std::size_t one = allocated_bytes();
  require_ok(second.reserve(100));
  first = std::move(second);
  CHECK(allocated_bytes() == one);
  AlignedBuffer& itself = first;
  first = std::move(itself);
  CHECK(first.capacity() >= 100);
  first.release();
  CHECK(allocated_bytes() == before);
}

TEST_CASE("memory: absurd sizes are refused, and the workspace stays usable", "[memory]") {
  Problem p(square(20, 8), 9);
  p.run();
  const Result before = p.result;
  const std::size_t capacity = p.workspace.capacity_bytes();
  const std::size_t bytes = allocated_bytes();
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  for (std::size_t count : {most, most - 1, most / 2, most / 4, most / 4 - 16}) {
    CAPTURE(count);
    const Status status = p.workspace.begin(count);
    CHECK(status.code() == StatusCode::kOutOfMemory);
    CHECK(std::string(status.message()).starts_with("out of memory: "));
    CHECK(p.workspace.capacity_bytes() == capacity);
    CHECK(allocated_bytes() == bytes);
  }
  p.run();
  CHECK(first_difference(before.out, p.result.out) == "");
}

TEST_CASE("memory: the scratch of the widest heads is counted in full", "[memory]") {
  // 24 rows of sums over so many columns do not fit 32 bits: a wrapped product would announce little.
  Problem p(square(1, 4), 1);
  AttentionArgs args = p.args();
  args.extras = {};
  args.v.shape[3] = args.out.shape[3] = 178956970;
  args.v.strides = args.out.strides = {178956970, 178956970, 178956970, 1};
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::size_t>::max() - 3);
  CHECK(static_cast<double>(attention_scratch_bytes(args)) >=
        std::min(kMost, 178956970.0 * 4 * 24));
}

constexpr Index kAroundTiles[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  12,  13,  15, 16,
                                  17, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 129};

/// Runs `p` with every array against a guard and compares with the call on plain vectors.
void require_stays_inside(Problem& p, Edge edge) {
  const Result expected = p.run();
  AttentionArgs args = p.args();
  const Guarded q(p.q, edge);
  const Guarded k(p.k, edge);
  const Guarded v(p.v, edge);
  const Guarded mask(p.mask, edge);
  const Guarded bias(p.bias, edge);
  const Guarded<float> out(p.result.out.size(), edge);
  const Guarded<float> weights(p.result.weights.size(), edge);
  const Guarded<float> lse(p.result.lse.size(), edge);
  const Guarded<float> entropy(p.result.entropy.size(), edge);
  args.q.data = q.data();
  args.k.data = k.data();
  args.v.data = v.data();
  args.out.data = out.data();
  args.options.mask.data = mask.data();
  args.options.bias.data = bias.data();
  args.extras.weights.data = weights.data();
  args.extras.lse.data = lse.data();
  args.extras.entropy.data = entropy.data();
  require_ok(attention(args, p.workspace));
  REQUIRE(first_difference(expected.out, out.values()) == "");
  REQUIRE(first_difference(expected.weights, weights.values()) == "");
  REQUIRE(first_difference(expected.lse, lse.values()) == "");
  REQUIRE(first_difference(expected.entropy, entropy.values()) == "");
  for (const auto* array : {&q, &k, &v, &bias, &out, &weights, &lse, &entropy}) {
    REQUIRE(array->intact());
  }
  REQUIRE(mask.intact());
}

TEST_CASE("memory: attention reads and writes nothing outside its arrays, at any length",
          "[memory][guard]") {
  for (Index t : kAroundTiles) {
    for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
      CAPTURE(t, static_cast<int>(edge));
      Problem p({.heads = 2, .kv_heads = 1, .tq = t, .tk = t, .dk = 5, .dv = 7}, 11);
      p.add_mask({t, t});
      p.add_bias({1, 2, t, t});
      require_stays_inside(p, edge);
    }
  }
}

TEST_CASE("memory: attention reads and writes nothing outside its arrays, at any width",
          "[memory][guard]") {
  for (Index d : kAroundTiles) {
    for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
      CAPTURE(d, static_cast<int>(edge));
      Problem p({.heads = 2, .kv_heads = 1, .tq = 7, .tk = 9, .dk = d, .dv = 130 - d}, 12);
      p.add_mask({9});
      p.add_bias({7, 1});
      p.causal(2);
      require_stays_inside(p, edge);
    }
  }
}

TEST_CASE("memory: attention over values that are not finite stays inside too", "[memory][guard]") {
  for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
    for (Index t : {5, 33, 65}) {
      CAPTURE(t, static_cast<int>(edge));
      Problem p({.heads = 2, .kv_heads = 1, .tq = t, .tk = t, .dk = 5, .dv = 7}, 13);
      p.mask_shape = {t};
      p.mask.assign(static_cast<std::size_t>(t), 1);
      p.mask[static_cast<std::size_t>(t - 1)] = 0;
      p.add_bias({t, t});
      p.v_row(0, 0, t - 1)[0] = NAN;
      require_stays_inside(p, edge);
    }
  }
}

TEST_CASE("memory: a layer reads and writes nothing outside its arrays", "[memory][guard][layer]") {
  for (Index d_model : {4, 6, 8, 18, 32, 34, 66}) {
    for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
      CAPTURE(d_model, static_cast<int>(edge));
      LayerProblem p({.d_model = d_model, .num_heads = 2, .d_context = d_model + 1},
                     {.batch = 2, .tq = 7, .tk = 5}, 14);
      const LayerResult expected = p.run();
      MultiHeadAttentionWeights w = p.weights();
      const Guarded wq(p.wq, edge);
      const Guarded wk(p.wk, edge);
      const Guarded wv(p.wv, edge);
      const Guarded wo(p.wo, edge);
      const Guarded bq(p.bq, edge);
      const Guarded bk(p.bk, edge);
      const Guarded bv(p.bv, edge);
      const Guarded bo(p.bo, edge);
      const Guarded x(p.x, edge);
      const Guarded context(p.context, edge);
      const Guarded<float> y(p.result.y.size(), edge);
      w.wq.data = wq.data();
      w.wk.data = wk.data();
      w.wv.data = wv.data();
      w.wo.data = wo.data();
      w.bq.data = bq.data();
      w.bk.data = bk.data();
      w.bv.data = bv.data();
      w.bo.data = bo.data();
      MultiHeadAttention layer;
      require_ok(MultiHeadAttention::create(p.config, w, layer));
      auto args = p.args();
      args.x.data = x.data();
      args.context.data = context.data();
      args.y.data = y.data();
      require_ok(layer.forward(args, p.workspace));
      REQUIRE(first_difference(expected.y, y.values()) == "");
      for (const auto* array : {&wq, &wk, &wv, &wo, &bq, &bk, &bv, &bo, &x, &context, &y}) {
        REQUIRE(array->intact());
      }
    }
  }
}

TEST_CASE("memory: encodings and shifts write nothing outside their arrays", "[memory][guard]") {
  for (SinusoidLayout layout : {SinusoidLayout::kInterleaved, SinusoidLayout::kConcatenated}) {
    for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
      for (Index d : {1, 2, 3, 8, 9, 64, 65}) {
        CAPTURE(d, static_cast<int>(edge));
        const SinusoidOptions options{10000.0, layout};
        const Guarded<float> table(static_cast<std::size_t>(67 * d), edge);
        require_ok(sinusoidal_encoding({table.data(), {67, d}}, -33, options));
        CHECK(table.intact());
        const Index pairs = (d + 1) / 2;
        const Guarded<float> blocks(static_cast<std::size_t>(4 * pairs), edge);
        require_ok(sinusoidal_shift_blocks({blocks.data(), {pairs, 2, 2}}, 5, d, options));
        CHECK(blocks.intact());
        if (d % 2 == 0) {
          const Guarded<float> matrix(static_cast<std::size_t>(d * d), edge);
          require_ok(sinusoidal_shift_matrix({matrix.data(), {d, d}}, 5, options));
          CHECK(matrix.intact());
        }
      }
    }
  }
}

}  // namespace
}  // namespace qkv::test::memory_test
