// Several callers at once: each with a workspace of its own, and everything else shared.
#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "block.hpp"
#include "failing_memory.hpp"
#include "qkv/threads.hpp"

namespace qkv::test::parallel_callers_test {
namespace {

constexpr int kCallers = 4;
constexpr int kRounds = 5;

/// Runs `compute(caller, workspace)` alone for each caller, then for all of them at once, a few times: with a
/// pool that they share, with one for each, and without. All must give the same bits.
void require_same_for_all(const std::function<std::vector<float>(int, Workspace&)>& compute) {
  std::vector<std::vector<float>> expected;
  for (int caller = 0; caller < kCallers; ++caller) {
    Workspace workspace;
    expected.push_back(compute(caller, workspace));
  }
  Threads shared(3);
  // Assertions of Catch2 are for one thread, so the others only note what differs.
  std::vector<std::string> differences(kCallers);
  const auto call = [&](int caller) {
    Threads own(2);
    for (ThreadPool* pool : {&shared.pool(), &own.pool(), static_cast<ThreadPool*>(nullptr)}) {
      Workspace workspace(pool);
      for (int round = 0; round < kRounds; ++round) {
        const auto at = static_cast<std::size_t>(caller);
        differences[at] += first_difference(compute(caller, workspace), expected[at]);
      }
    }
  };
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back(call, caller);
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  for (const std::string& difference : differences) {
    CHECK(difference == "");
  }
}

TEST_CASE("callers: attention of several at once", "[parallel]") {
  std::vector<Problem> problems;
  for (int caller = 0; caller < kCallers; ++caller) {
    const auto seed = static_cast<std::uint64_t>(caller);
    problems.emplace_back(
        Shape{.heads = 4, .kv_heads = 2, .tq = 110 + caller, .tk = 110 + caller, .dk = 16, .dv = 9},
        seed);
    problems.back().causal(0);
  }
  require_same_for_all([&](int caller, Workspace& workspace) {
    Problem& p = problems[static_cast<std::size_t>(caller)];
    std::fill(p.result.out.begin(), p.result.out.end(), kUntouched);
    static_cast<void>(attention(p.args(), workspace));
    return p.result.out;
  });
}

TEST_CASE("callers: one layer, one block, and a cache for each", "[parallel]") {
  LayerProblem layer({.d_model = 48, .num_heads = 4, .num_kv_heads = 2}, {.tq = 150}, 1);
  layer.create(layer.weights());
  BlockProblem block(encoder(), {.tq = 150}, 2);
  block.create(block.weights());
  require_same_for_all([&](int caller, Workspace& workspace) {
    const Index tokens = 150 - caller;
    KvCache cache;
    std::vector<float> y(static_cast<std::size_t>(tokens * 48), kUntouched);
    static_cast<void>(KvCache::create({.num_kv_heads = 2, .capacity = tokens, .d_k = 12}, cache));
    static_cast<void>(layer.layer.forward({.x = {layer.x.data(), {1, tokens, 48}},
                                           .y = {y.data(), {1, tokens, 48}},
                                           .options = {.causal = true},
                                           .extras = {},
                                           .cache = &cache},
                                          workspace));
    std::vector<float> z(static_cast<std::size_t>(tokens * 12), kUntouched);
    static_cast<void>(block.block.forward(
        {.x = {block.x.data(), {1, tokens, 12}}, .y = {z.data(), {1, tokens, 12}}}, workspace));
    y.insert(y.end(), z.begin(), z.end());
    return y;
  });
}

TEST_CASE("callers: layers are made and unmade while others work", "[parallel][memory]") {
  const std::size_t before = allocated_bytes();
  LayerProblem p({.d_model = 24, .num_heads = 2}, {.tq = 7}, 3);
  require_same_for_all([&](int /*caller*/, Workspace& workspace) {
    MultiHeadAttention layer;
    std::vector<float> y(7 * 24, kUntouched);
    static_cast<void>(MultiHeadAttention::create(p.config, p.weights(), layer));
    static_cast<void>(
        layer.forward({.x = {p.x.data(), {1, 7, 24}}, .y = {y.data(), {1, 7, 24}}}, workspace));
    return y;
  });
  CHECK(allocated_bytes() == before);
}

TEST_CASE("callers: the instruction set is asked for by all while one sets it", "[parallel][isa]") {
  const std::string chosen = active_isa();
  std::vector<std::thread> callers;
  std::vector<int> others(kCallers, 0);
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 1000; ++i) {
        if (caller == 0) {
          static_cast<void>(select_isa(chosen.c_str()));
        }
        others[static_cast<std::size_t>(caller)] += active_isa() == chosen ? 0 : 1;
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  CHECK(others == std::vector<int>(kCallers, 0));
  require_ok(select_isa(nullptr));
}

#if !defined(__APPLE__)
TEST_CASE("callers: threads that started end where another cannot", "[parallel][memory]") {
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    const FailingMemory memory(failures);
    bool thrown = false;
    try {
      const Threads threads(4);
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    failed = memory.failed();
    CHECK(thrown == failed);
  }
  CHECK(failures - 1 >= 4);  // each of three threads, and the list of them
}
#endif

}  // namespace
}  // namespace qkv::test::parallel_callers_test
