// A public call asks once which kernels are active: select_isa() on another thread in the middle of it may not mix two tables.
#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <vector>

#include "block.hpp"
#include "kernel_fetches.hpp"
#include "language_model_problem.hpp"
#include "rotary_problem.hpp"

namespace qkv::test::kernel_fetches_test {
namespace {

/// The call fetches once, and has the bits that it has when nobody selects another instruction set.
void require_one_fetch(const char* name, const std::function<std::vector<float>()>& call) {
  CAPTURE(name);
  const std::vector<float> expected = call();
  const KernelFetches fetches;
  const std::vector<float> computed = call();
  REQUIRE(fetches.count() == 1);
  REQUIRE(first_difference(expected, computed) == "");
}

TEST_CASE("kernels: attention and its cache fetch them once", "[isa]") {
  Problem p({.batch = 2, .heads = 4, .kv_heads = 2, .tq = 9, .tk = 70, .dk = 8, .dv = 5}, 1);
  p.add_mask({9, 70});
  require_one_fetch("attention", [&] { return p.run().out; });
  KvCache cache;
  require_ok(
      KvCache::create({.batch = 2, .num_kv_heads = 2, .capacity = 70, .d_k = 8, .d_v = 5}, cache));
  require_one_fetch("attention with a cache", [&] {
    require_ok(cache.truncate(0));
    AttentionArgs args = p.args();
    args.cache = &cache;
    require_ok(attention(args, p.workspace));
    return p.result.out;
  });
  require_one_fetch("KvCache::append", [&] {
    require_ok(cache.truncate(0));
    const AttentionArgs args = p.args();
    require_ok(cache.append(args.k, args.v));
    return std::vector<float>(1, static_cast<float>(cache.length()));
  });
}

TEST_CASE("kernels: layers fetch them once, however many parts they have", "[isa][layer]") {
  MultiHeadAttentionConfig config{.d_model = 24, .num_heads = 3};
  config.rotary = RotaryOptions{};
  LayerProblem layer(config, {.batch = 2, .tq = 19}, 2);
  layer.run();
  require_one_fetch("MultiHeadAttention::forward", [&] { return layer.run().y; });
  LayerProblem other(config, {.batch = 2, .tq = 19}, 2);
  require_one_fetch("MultiHeadAttention::create", [&] {
    other.create(other.weights());
    return std::vector<float>{};
  });
  BlockProblem block(decoder(), {.batch = 2, .tq = 6, .tk = 9}, 3);
  block.run();
  require_one_fetch("TransformerBlock::forward", [&] { return block.run(); });
  require_one_fetch("TransformerBlock::create", [&] {
    TransformerBlock made;
    require_ok(TransformerBlock::create(block.config, block.weights(), made));
    return std::vector<float>{};
  });
}

TEST_CASE("kernels: a pass of a language model fetches them once for all its layers",
          "[isa][model]") {
  for (const char* name : {"llama", "gpt2", "gemma2", "bloom"}) {
    CAPTURE(name);
    const LanguageModelConfig config = family(name);
    const LanguageModel model = ModelWeights(config, 1).make();
    const ModelTokens tokens(config, 2, 20, 1);
    // A new workspace each time: what it takes is measured for the first table, and the layers run in it.
    require_one_fetch("LanguageModel::forward", [&] { return run(model, tokens).all(); });
    ModelSession session;
    require_ok(ModelSession::create(model, {.batch = 2}, session));
    require_one_fetch("LanguageModel::forward in a session", [&] {
      require_ok(session.truncate(0));
      return run(model, tokens, {.session = &session}).all();
    });
    require_one_fetch("ModelSession::create", [&] {
      ModelSession made;
      require_ok(ModelSession::create(model, {.batch = 2}, made));
      return std::vector<float>{};
    });
  }
}

TEST_CASE("kernels: rotary embeddings fetch them once", "[isa]") {
  std::vector<float> x(2 * 3 * 4 * 8, 0.5F);
  std::vector<float> out(x.size());
  Workspace workspace;
  require_one_fetch("rotary_embedding", [&] {
    require_ok(
        rotary_embedding({x.data(), {2, 3, 4, 8}}, {out.data(), {2, 3, 4, 8}}, {}, workspace));
    return out;
  });
}

}  // namespace
}  // namespace qkv::test::kernel_fetches_test
