// When memory runs out: every request of every operation fails in turn, and nothing comes of it but a status.
#include <catch2/catch_test_macros.hpp>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "block.hpp"
#include "layer.hpp"
#include "out_of_memory.hpp"

namespace qkv::test::out_of_memory_test {
namespace {

Operation attention_operation(const std::function<void(Problem&)>& bend) {
  auto p = std::make_shared<Problem>(
      Shape{.batch = 2, .heads = 4, .kv_heads = 2, .tq = 19, .tk = 19, .dk = 5, .dv = 7}, 1);
  bend(*p);
  return {[p] { return attention(p->args(), p->workspace); },
          [p] {
            return joined({&p->result.out, &p->result.weights, &p->result.lse, &p->result.entropy});
          },
          [p] { return Scratch{attention_scratch_bytes(p->args()), &p->workspace}; }};
}

/// A layer over one that is there already; `state` is what the layer then computes.
Operation layer_creation(const MultiHeadAttentionConfig& config) {
  auto p = std::make_shared<LayerProblem>(config, LayerShape{.tq = 5}, 2);
  p->run();
  const auto other = std::make_shared<LayerProblem>(config, LayerShape{.tq = 5}, 3);
  return {[p, other] { return MultiHeadAttention::create(p->config, other->weights(), p->layer); },
          [p] { return p->run().y; }};
}

Operation layer_pass(const MultiHeadAttentionConfig& config, const LayerShape& shape) {
  auto p = std::make_shared<LayerProblem>(config, shape, 4);
  p->create(p->weights());
  return {[p] { return p->layer.forward(p->args(), p->workspace); },
          [p] {
            return joined({&p->result.y, &p->result.weights, &p->result.lse, &p->result.entropy});
          },
          [p] { return Scratch{p->layer.forward_scratch_bytes(p->args()), &p->workspace}; }};
}

Operation block_creation(const TransformerBlockConfig& config) {
  auto p = std::make_shared<BlockProblem>(config, LayerShape{.tq = 4, .tk = 6}, 5);
  p->run();
  const auto other = std::make_shared<BlockProblem>(config, LayerShape{.tq = 4, .tk = 6}, 6);
  return {[p, other] { return TransformerBlock::create(p->config, other->weights(), p->block); },
          [p] { return p->run(); }};
}

Operation block_pass(const TransformerBlockConfig& config) {
  auto p = std::make_shared<BlockProblem>(config, LayerShape{.batch = 2, .tq = 4, .tk = 6}, 7);
  p->create(p->weights());
  return {[p] { return p->block.forward(p->args(), p->workspace); }, [p] { return p->y; },
          [p] { return Scratch{p->block.forward_scratch_bytes(p->args()), &p->workspace}; }};
}

/// A cache, tokens for it, and what it holds.
struct Cached {
  static constexpr KvCacheConfig kConfig{.num_kv_heads = 2, .capacity = 9, .d_k = 5, .d_v = 3};
  Cached() {
    Random random(8);
    k = random_floats(random, 2 * 4 * 5);
    v = random_floats(random, 2 * 4 * 3);
    require_ok(KvCache::create(kConfig, cache));
    require_ok(cache.append({k.data(), {1, 2, 4, 5}}, {v.data(), {1, 2, 4, 3}}));
  }
  [[nodiscard]] std::vector<float> held() const {
    const Index n = cache.length();
    const KvCacheConfig& c = cache.config();
    const Index heads = c.batch * c.num_kv_heads * n;
    std::vector<float> keys(static_cast<std::size_t>(heads * c.d_k));
    std::vector<float> values(static_cast<std::size_t>(heads * c.d_v));
    require_ok(cache.read_keys({keys.data(), {c.batch, c.num_kv_heads, n, c.d_k}}));
    require_ok(cache.read_values({values.data(), {c.batch, c.num_kv_heads, n, c.d_v}}));
    return joined({&keys, &values, &out});
  }
  std::vector<float> k, v;
  std::vector<float> out = std::vector<float>(2 * 4 * 3, kUntouched);
  KvCache cache;
  Workspace workspace;
};

Operation cache_creation() {
  auto p = std::make_shared<Cached>();
  return {[p] {
            return KvCache::create(
                {.batch = 2, .num_kv_heads = 3, .capacity = 17, .d_k = 4, .d_v = 6}, p->cache);
          },
          [p] { return p->held(); }};
}

Operation cached_attention() {
  auto p = std::make_shared<Cached>();
  return {[p] {
            return attention({.q = {p->k.data(), {1, 2, 4, 5}},
                              .k = {p->k.data(), {1, 2, 4, 5}},
                              .v = {p->v.data(), {1, 2, 4, 3}},
                              .out = {p->out.data(), {1, 2, 4, 3}},
                              .options = {.causal = true},
                              .extras = {},
                              .cache = &p->cache},
                             p->workspace);
          },
          [p] { return p->held(); }};
}

Operation feed_forward_creation(FeedForwardActivation activation) {
  TransformerBlockConfig config = encoder();
  config.activation = activation;
  struct State {
    explicit State(const TransformerBlockConfig& c)
        : problem(c, {.tq = 3}, 9),
          other(c, {.tq = 3}, 10),
          sizes{.d_model = 12, .d_feed_forward = 20, .activation = c.activation} {
      require_ok(FeedForward::create(sizes, problem.weights().feed_forward, layer));
    }
    BlockProblem problem, other;
    FeedForwardConfig sizes;
    FeedForward layer;
    Workspace workspace;
  };
  auto p = std::make_shared<State>(config);
  return {[p] { return FeedForward::create(p->sizes, p->other.weights().feed_forward, p->layer); },
          [p] {
            require_ok(p->layer.forward(
                {.x = {p->problem.x.data(), {1, 3, 12}}, .y = {p->problem.y.data(), {1, 3, 12}}},
                p->workspace));
            return p->problem.y;
          }};
}

Operation feed_forward_pass() {
  struct State {
    State() : problem(encoder(), {.tq = 3}, 11) {
      require_ok(FeedForward::create({.d_model = 12, .d_feed_forward = 20},
                                     problem.weights().feed_forward, layer));
    }
    BlockProblem problem;
    FeedForward layer;
    Workspace workspace;
  };
  auto p = std::make_shared<State>();
  const auto args = [p] {
    return FeedForward::ForwardArgs{{p->problem.x.data(), {1, 3, 12}},
                                    {p->problem.y.data(), {1, 3, 12}}};
  };
  return {[p, args] { return p->layer.forward(args(), p->workspace); },
          [p] { return p->problem.y; },
          [p, args] { return Scratch{p->layer.forward_scratch_bytes(args()), &p->workspace}; }};
}

/// One input, one output and a workspace.
struct Arrays {
  explicit Arrays(Index n) {
    Random random(12);
    in = random_floats(random, n);
    out.assign(static_cast<std::size_t>(n), kUntouched);
  }
  std::vector<float> in, out;
  Workspace workspace;
};

Operation rotary_operation() {
  auto p = std::make_shared<Arrays>(2 * 3 * 7 * 8);
  return {[p] {
            return rotary_embedding({p->in.data(), {2, 3, 7, 8}}, {p->out.data(), {2, 3, 7, 8}}, {},
                                    p->workspace);
          },
          [p] { return p->out; },
          [p] { return Scratch{p->workspace.capacity_bytes(), &p->workspace}; }};
}

Operation rollout_operation() {
  auto p = std::make_shared<Arrays>(3 * 2 * 5 * 5);
  for (float& w : p->in) {
    w = std::abs(w);
  }
  return {[p] {
            return attention_rollout({p->in.data(), {3, 2, 5, 5}}, {p->out.data(), {5, 5}},
                                     p->workspace);
          },
          [p] { return p->out; },
          [p] { return Scratch{p->workspace.capacity_bytes(), &p->workspace}; }};
}

/// A call in a workspace that has already served a smaller one, and grows.
Operation growing_workspace() {
  Operation operation = attention_operation([](Problem& p) {
    Problem small(square(3, 4), 13);
    require_ok(attention(small.args(), p.workspace));
  });
  return operation;
}

TEST_CASE("out of memory: every request of every operation may fail", "[memory][out-of-memory]") {
  int requests = 0;
  const auto survives = [&](const char* name, int least_requests, const MakeOperation& make) {
    requests += require_survives(name, least_requests, make);
  };
  const auto plain = [](Problem&) {};
  MultiHeadAttentionConfig rotary{.d_model = 12, .num_heads = 3};
  static const std::vector<float> table(40, 0.5F);
  static const std::vector<std::int32_t> positions = {3, 1, 4, 1, 5};
  rotary.rotary = RotaryOptions{};
  rotary.rotary->cos = rotary.rotary->sin = {table.data(), {20, 2}};
  rotary.rotary->positions = {positions.data(), {5}};
  TransformerBlockConfig swiglu = decoder();
  swiglu.activation = FeedForwardActivation::kSwiglu;
  TransformerBlockConfig after = encoder();
  after.norm = NormPlacement::kPost;

  survives("attention", 1, [&] { return attention_operation(plain); });
  survives("attention, growing", 1, growing_workspace);
  survives("attention with a cache", 1, cached_attention);
  survives("KvCache::create", 2, cache_creation);
  survives("MultiHeadAttention::create", 8,
           [] { return layer_creation({.d_model = 12, .num_heads = 3}); });
  survives("MultiHeadAttention::create, rotary", 9, [&] { return layer_creation(rotary); });
  survives("MultiHeadAttention::forward", 1, [] {
    return layer_pass({.d_model = 12, .num_heads = 3, .num_kv_heads = 1, .d_context = 7},
                      {.batch = 2, .tq = 9, .tk = 5});
  });
  survives("MultiHeadAttention::forward, rotary", 1, [&] { return layer_pass(rotary, {.tq = 5}); });
  survives("FeedForward::create", 4,
           [] { return feed_forward_creation(FeedForwardActivation::kGelu); });
  survives("FeedForward::create, SwiGLU", 6,
           [] { return feed_forward_creation(FeedForwardActivation::kSwiglu); });
  survives("FeedForward::forward", 1, feed_forward_pass);
  survives("TransformerBlock::create, encoder", 16, [] { return block_creation(encoder()); });
  survives("TransformerBlock::create, decoder", 28, [&] { return block_creation(swiglu); });
  survives("TransformerBlock::forward, encoder", 1, [&] { return block_pass(after); });
  survives("TransformerBlock::forward, decoder", 1, [&] { return block_pass(swiglu); });
  survives("rotary_embedding", 1, rotary_operation);
  survives("attention_rollout", 1, rollout_operation);
  std::printf("out of memory: %d requests failed, one at a time\n", requests);
}

TEST_CASE("out of memory: operators without a workspace never ask", "[memory][out-of-memory]") {
  Random random(14);
  std::vector<float> x = random_floats(random, 4 * 4 * 4 * 4);
  std::vector<float> y(x.size());
  const std::vector<std::int32_t> ids = {0, 3, 1};
  const TensorView<const float> in(x.data(), {4, 4, 4, 4});
  const TensorView<float> out(y.data(), {4, 4, 4, 4});
  const auto to = [&](std::initializer_list<Index> shape) {
    return TensorView<float>(y.data(), shape);
  };
  const auto from = [&](std::initializer_list<Index> shape) {
    return TensorView<const float>(x.data(), shape);
  };
  const auto nothing = require_asks_for_nothing;
  nothing("softmax", [&] { return softmax(in, out, {.axis = 1}); });
  nothing("layer_norm", [&] { return layer_norm(in, out, {}); });
  nothing("rms_norm", [&] { return rms_norm(in, out, {}); });
  nothing("activate", [&] { return activate(in, out, Activation::kGelu); });
  nothing("embedding", [&] { return embedding(from({4, 8}), {ids.data(), {3}}, to({3, 8})); });
  nothing("learned_encoding",
          [&] { return learned_encoding(from({4, 8}), to({3, 8}), 1, OutOfRange::kError); });
  nothing("sinusoidal_encoding", [&] { return sinusoidal_encoding(to({9, 7}), -3, {}); });
  nothing("sinusoidal_shift_blocks",
          [&] { return sinusoidal_shift_blocks(to({4, 2, 2}), 5, 7, {}); });
  nothing("sinusoidal_shift_matrix", [&] { return sinusoidal_shift_matrix(to({8, 8}), 5, {}); });
  nothing("rotary_table", [&] { return rotary_table(to({5, 3}), {y.data() + 20, {5, 3}}, {}); });
  nothing("alibi_slopes", [&] { return alibi_slopes(to({6})); });
  nothing("t5_relative_bias",
          [&] { return t5_relative_bias(from({8, 2}), to({2, 5, 6}), {.max_distance = 9}); });
  nothing("transformer_xl_bias", [&] {
    return transformer_xl_bias(from({1, 2, 3, 4}), from({6, 8}), from({2, 4}), to({1, 2, 3, 4}));
  });
  nothing("row_entropy", [&] {
    for (float& w : x) {
      w = std::abs(w);
    }
    return row_entropy(in, to({4, 4, 4}));
  });
  nothing("head_statistics", [&] { return head_statistics(in, {.entropy = to({4, 4})}); });
  Cached cached;
  nothing("KvCache::append", [&] {
    return cached.cache.append({cached.k.data(), {1, 2, 4, 5}}, {cached.v.data(), {1, 2, 4, 3}});
  });
  nothing("KvCache::truncate", [&] { return cached.cache.truncate(2); });
}

}  // namespace
}  // namespace qkv::test::out_of_memory_test
