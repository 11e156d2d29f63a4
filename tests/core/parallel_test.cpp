// Threads that share a call: every task once, nobody in anybody's way, and the same bits however many
// there are.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "base/share.hpp"
#include "block.hpp"
#include "packed_problem.hpp"
#include "qkv/linear.hpp"
#include "qkv/threads.hpp"

namespace qkv::test::parallel_test {
namespace {

TEST_CASE("pool: every task runs once, on a thread that has no other", "[parallel]") {
  for (const unsigned count : {1U, 2U, 3U, 8U}) {
    Threads threads(count);
    REQUIRE(threads.pool().threads() == static_cast<int>(count));
    for (const Index tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(tasks));
      std::array<std::atomic<int>, 8> busy{};
      std::atomic<int> collisions{0};
      threads.pool().run(tasks, [&](Index i, int thread) noexcept {
        auto& mine = busy[static_cast<std::size_t>(thread)];
        collisions += mine.exchange(1);
        ++done[static_cast<std::size_t>(i)];
        mine = 0;
      });
      CHECK(collisions == 0);
      for (const auto& times : done) {
        REQUIRE(times == 1);
      }
    }
  }
}

TEST_CASE("pool: others take part", "[parallel]") {
  Threads threads(2);
  std::atomic<int> met{0};
  // Each task waits for the other, so both threads must come.
  threads.pool().run(2, [&](Index /*i*/, int /*thread*/) noexcept {
    ++met;
    while (met < 2) {
    }
  });
  CHECK(met == 2);
}

TEST_CASE("pool: threads are awake while they work, and not for long after", "[parallel]") {
  CHECK_FALSE(ThreadPool(2).awake());  // nobody serves
  Threads threads(2);
  std::atomic<int> met{0};
  std::atomic<bool> awake{false};
  threads.pool().run(2, [&](Index /*i*/, int /*thread*/) noexcept {
    ++met;
    while (met < 2) {
    }
    if (threads.pool().awake()) {
      awake = true;
    }
  });
  CHECK(awake);
  // How long it takes to fall asleep is the machine's business.
  for (int wait = 1; threads.pool().awake() && wait < 2000; wait *= 2) {
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
  }
  CHECK_FALSE(threads.pool().awake());
}

TEST_CASE("pool: pieces in order are each done once, a thread's own stretch first", "[parallel]") {
  for (const unsigned count : {1U, 2U, 3U, 20U}) {
    Threads threads(count);
    for (const Index pieces : {0, 1, 2, 7, 1000}) {
      CAPTURE(count, pieces);
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(pieces));
      share_in_order(&threads.pool(), pieces,
                     [&](Index i) noexcept { ++done[static_cast<std::size_t>(i)]; });
      for (const auto& times : done) {
        REQUIRE(times == 1);
      }
    }
  }
  std::vector<Index> order;
  share_in_order(nullptr, 5, [&](Index i) noexcept { order.push_back(i); });
  CHECK(order == std::vector<Index>{0, 1, 2, 3, 4});
  // Of two threads that wait for each other at their first pieces, one begins in the middle.
  Threads threads(2);
  std::atomic<int> met{0};
  std::atomic<Index> first_of_both{0};
  share_in_order(&threads.pool(), 10, [&](Index i) noexcept {
    if (met < 2) {
      first_of_both += i;
      ++met;
      while (met < 2) {
      }
    }
  });
  CHECK(first_of_both == 5);
}

TEST_CASE("pool: a call inside of a task, or beside another, is done by its caller alone",
          "[parallel]") {
  Threads threads(3);
  std::atomic<int> inner{0};
  std::atomic<int> elsewhere{0};
  threads.pool().run(50, [&](Index /*i*/, int /*thread*/) noexcept {
    threads.pool().run(20, [&](Index /*j*/, int thread) noexcept {
      ++inner;
      elsewhere += thread != 0 ? 1 : 0;
    });
  });
  CHECK(inner == 1000);
  CHECK(elsewhere == 0);

  std::atomic<int> total{0};
  const auto caller = [&] {
    for (int r = 0; r < 200; ++r) {
      threads.pool().run(10, [&](Index /*i*/, int /*thread*/) noexcept { ++total; });
    }
  };
  std::thread other(caller);
  caller();
  other.join();
  CHECK(total == 4000);
}

TEST_CASE("pool: sizes are clamped, places are limited, and a stopped pool works on alone",
          "[parallel]") {
  CHECK(ThreadPool(0).threads() == 1);
  CHECK(ThreadPool(-5).threads() == 1);
  CHECK(ThreadPool(100000).threads() == ThreadPool::kMaxThreads);
  ThreadPool alone(1);
  CHECK_FALSE(alone.serve());

  ThreadPool pool(2, ThreadPool::Waiting::kSpin);
  bool served = false;
  std::thread helper([&] { served = pool.serve(); });
  Index sum = 0;
  for (int r = 0; r < 100; ++r) {
    std::atomic<Index> part{0};
    pool.run(10, [&](Index i, int /*thread*/) noexcept { part += i; });
    sum += part;
  }
  pool.stop();
  helper.join();
  CHECK(sum == 4500);
  CHECK(served);
  CHECK_FALSE(pool.serve());  // its only place was taken
  std::atomic<int> late{0};
  pool.run(10, [&](Index /*i*/, int /*thread*/) noexcept { ++late; });
  CHECK(late == 10);
}

/// Whether a run of `count` tasks begins as it should, seen in a process of its own, which ends with the
/// hundredth task. `count` may be more than there is time for.
bool begins(ThreadPool& pool, Index count) {
  const pid_t child = fork();
  if (child == 0) {
    int done = 0;
    bool counted = true;
    pool.run(count, [&](Index i, int /*thread*/) noexcept {
      // Alone from the first, with others from the last.
      counted = counted && (i == done || i == count - 1 - done);
      if (++done == 100) {
        _exit(counted ? 0 : 1);
      }
    });
    _exit(2);  // fewer
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST_CASE("pool: counts of 2^32 and more are not cut", "[parallel]") {
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    ThreadPool pool(threads);
    for (const Index count : {Index{100}, Index{1} << 32, (Index{1} << 32) + 5}) {
      CAPTURE(count);
      CHECK(begins(pool, count));
    }
    CHECK_FALSE(begins(pool, 99));
  }
}

/// A thread that comes to a task and never back. Nothing else is possible in a process: no thread can be
/// ended without its consent.
void never_come_back() {
  static std::atomic<int> for_ever{0};
  for (;;) {
    for_ever.wait(0);
  }
}

void lose_a_thread(ThreadPool& pool) {
  std::thread living([&pool] { pool.serve_as(1); });
  std::thread([&pool] { pool.serve_as(2); }).detach();
  std::atomic<int> met{0};
  const auto meet = [&met](Index /*i*/, int /*thread*/) noexcept {
    ++met;
    while (met < 3) {
    }
  };
  pool.run(3, meet);  // from here on both places are taken
  std::atomic<bool> stuck{false};
  std::atomic<int> done{0};
  std::thread observer([&] {
    stuck.wait(false);
    pool.abandon(2);
  });
  pool.run(50, [&](Index /*i*/, int thread) noexcept {
    if (thread == 2) {
      stuck = true;
      stuck.notify_all();
      never_come_back();
    }
    stuck.wait(false);  // the others leave it a task
    if (thread == 1) {
      // Later than the caller, who must not take it for lost.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ++done;
  });
  observer.join();
  CHECK(done == 49);
  CHECK(pool.task_lost());
  CHECK_FALSE(pool.task_lost());

  // The pool goes on with those that are left, and with another thread in the place of the lost one.
  done = 0;
  pool.run(50, [&](Index /*i*/, int /*thread*/) noexcept { ++done; });
  CHECK(done == 50);
  CHECK_FALSE(pool.task_lost());
  CHECK_FALSE(pool.serve_as(1));
  std::thread another([&pool] { pool.serve_as(2); });
  met = 0;
  pool.run(3, meet);
  CHECK(met == 3);
  CHECK_FALSE(pool.task_lost());
  pool.stop();
  living.join();
  another.join();
}

TEST_CASE("pool: a call returns although a thread never comes back from its task", "[parallel]") {
  // Static, because the thread that never comes back still refers to them.
  SECTION("a caller that sleeps") {
    static ThreadPool pool(3);
    lose_a_thread(pool);
  }
  SECTION("a caller that must not sleep") {
    static ThreadPool pool(3, ThreadPool::Waiting::kSpin);
    lose_a_thread(pool);
  }
}

TEST_CASE("pool: a thread that is abandoned between calls takes no result along", "[parallel]") {
  static ThreadPool pool(2);
  std::thread([] { pool.serve_as(1); }).detach();
  std::atomic<int> met{0};
  const auto meet = [&] {
    met = 0;
    pool.run(2, [&](Index /*i*/, int /*thread*/) noexcept {
      ++met;
      while (met < 2) {
      }
    });
  };
  meet();
  pool.abandon(1);
  std::atomic<int> done{0};
  pool.run(9, [&](Index /*i*/, int /*thread*/) noexcept { ++done; });
  CHECK(done == 9);
  CHECK_FALSE(pool.task_lost());
  pool.stop();
}

#ifdef RUSAGE_THREAD
TEST_CASE("pool: a thread without work sleeps", "[parallel]") {
  Threads threads(2);
  // Both threads meet in each call, where the one that came to help says how often it has slept so far.
  const auto sleeps = [&threads] {
    std::atomic<int> met{0};
    std::atomic<long> counted{0};
    threads.pool().run(2, [&](Index /*i*/, int thread) noexcept {
      ++met;
      while (met < 2) {
      }
      rusage usage{};
      if (thread != 0 && getrusage(RUSAGE_THREAD, &usage) == 0) {
        counted = usage.ru_nvcsw;  // times that it gave its processor away of its own will
      }
    });
    return counted.load();
  };
  // How long it takes to fall asleep is the machine's business, so it gets more and more time.
  long slept = 0;
  for (int wait = 1; slept == 0 && wait < 2000; wait *= 2) {
    const long before = sleeps();
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    slept = sleeps() - before;
  }
  CHECK(slept > 0);
}
#endif

/// Numbers of threads, more than cores included, and one that divides nothing evenly.
constexpr unsigned kCounts[] = {1, 3, 8};

/// Runs `compute(workspace)`, which returns all it wrote, without a pool and with pools of several sizes.
void require_same_bits(const std::function<std::vector<std::vector<float>>(Workspace&)>& compute) {
  Workspace alone;
  const auto expected = compute(alone);
  for (const unsigned count : kCounts) {
    CAPTURE(count);
    Threads threads(count);
    Workspace shared(&threads.pool());
    for (int repetition = 0; repetition < 2; ++repetition) {
      const auto got = compute(shared);
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        REQUIRE(first_difference(got[i], expected[i]) == "");
      }
    }
  }
}

void require_same_bits(Problem& p) {
  require_same_bits([&](Workspace& workspace) {
    for (auto* array : {&p.result.out, &p.result.weights, &p.result.lse, &p.result.entropy}) {
      array->assign(array->size(), kUntouched);
    }
    require_ok(attention(p.args(), workspace));
    return std::vector{p.result.out, p.result.weights, p.result.lse, p.result.entropy};
  });
}

TEST_CASE("parallel: attention has the same bits on any number of threads", "[parallel]") {
  SECTION("heads of two batch rows, rows that end within a task") {
    Problem p({.batch = 2, .heads = 3, .kv_heads = 3, .tq = 201, .tk = 201, .dk = 20, .dv = 9}, 1);
    p.causal(0);
    require_same_bits(p);
  }
  SECTION("grouped heads, lengths, a mask and a bias") {
    Problem p({.batch = 2, .heads = 6, .kv_heads = 2, .tq = 130, .tk = 190, .dk = 16, .dv = 33}, 2);
    p.add_mask({2, 1, 130, 190});
    p.add_bias({6, 130, 190});
    const std::int32_t lengths[] = {190, 77};
    p.options.key_lengths = {lengths, {2}};
    require_same_bits(p);
  }
  SECTION("one head, longer than a piece of packing") {
    Problem p({.tq = 97, .tk = 1100, .dk = 24, .dv = 40}, 3);
    p.options.dropout = {.rate = 0.25F, .seed = 7};
    p.options.softcap = 5.0F;
    require_same_bits(p);
  }
  SECTION("one query of many heads") {
    Problem p({.heads = 16, .kv_heads = 4, .tq = 1, .tk = 900, .dk = 64, .dv = 64}, 4);
    require_same_bits(p);
  }
}

TEST_CASE("parallel: rows asked for in part are those of the whole", "[parallel]") {
  Problem p({.heads = 2, .kv_heads = 2, .tq = 300, .tk = 300, .dk = 16, .dv = 8}, 5);
  p.causal(0);
  const Result whole = p.run();
  Threads threads(3);
  Workspace workspace(&threads.pool());
  for (const auto& [begin, end] :
       {std::pair<Index, Index>{0, 300}, {95, 97}, {96, 192}, {299, 300}}) {
    CAPTURE(begin, end);
    AttentionArgs args = p.args();
    const Index rows = end - begin;
    std::vector<float> weights(static_cast<std::size_t>(2 * rows * 300), kUntouched);
    std::vector<float> logits(weights.size(), kUntouched);
    args.extras.weights = {weights.data(), {1, 2, rows, 300}};
    args.extras.logits = {logits.data(), {1, 2, rows, 300}};
    args.extras.row_begin = begin;
    args.extras.row_end = end;
    require_ok(attention(args, workspace));
    for (Index h = 0; h < 2; ++h) {
      for (Index i = 0; i < rows * 300; ++i) {
        const auto at = static_cast<std::size_t>(h * rows * 300 + i);
        const auto in_whole = static_cast<std::size_t>((h * 300 + begin) * 300 + i);
        REQUIRE(weights[at] == whole.weights[in_whole]);
        REQUIRE(logits[at] != kUntouched);
      }
    }
  }
}

TEST_CASE("parallel: a cache that fills while threads share has the same bits", "[parallel]") {
  const auto format = GENERATE(CacheFormat::kF32, CacheFormat::kBf16, CacheFormat::kInt8);
  const Index heads = 4;
  const Index d = 64;
  Random random(6);
  const auto x = random_floats(random, 200 * heads * d);
  require_same_bits([&](Workspace& workspace) {
    KvCache cache;
    require_ok(KvCache::create(
        {.batch = 1, .num_kv_heads = heads, .capacity = 200, .d_k = d, .d_v = d, .format = format},
        cache));
    std::vector<std::vector<float>> results;
    for (const auto& [first, count] : {std::pair<Index, Index>{0, 150}, {150, 1}, {151, 49}}) {
      const auto tokens = split_heads(x.data() + first * heads * d, 1, count, heads, d);
      std::vector<float> out(static_cast<std::size_t>(count * heads * d));
      require_ok(attention({.q = tokens,
                            .k = tokens,
                            .v = tokens,
                            .out = split_heads(out.data(), 1, count, heads, d),
                            .options = {.causal = true},
                            .cache = &cache},
                           workspace));
      results.push_back(out);
    }
    return results;
  });
}

TEST_CASE("parallel: layers have the same bits on any number of threads", "[parallel]") {
  const auto check = [](const MultiHeadAttentionConfig& config, const LayerShape& shape) {
    LayerProblem p(config, shape, 7);
    p.create(p.weights());
    require_same_bits([&](Workspace& workspace) {
      require_ok(p.layer.forward(p.args(), workspace));
      return std::vector{p.result.y, p.result.weights, p.result.lse, p.result.entropy};
    });
  };
  SECTION("many rows, few columns") {
    check({.d_model = 40, .num_heads = 5}, {.batch = 2, .tq = 333});
  }
  SECTION("one row, many columns, the last panel in part") {
    check({.d_model = 600, .num_heads = 4}, {.tq = 1});
  }
  SECTION("cross-attention of grouped heads") {
    check({.d_model = 96, .num_heads = 6, .num_kv_heads = 2, .d_context = 72},
          {.tq = 150, .tk = 222});
  }
  SECTION("norms of more heads than one thread takes") {
    check({.d_model = 96, .num_heads = 6, .num_kv_heads = 3, .qk_norm = NormType::kRms},
          {.batch = 2, .tq = 200});
  }
}

TEST_CASE("parallel: products of every weight format have the same bits on any number of threads",
          "[parallel][weights]") {
  for (const WeightFormat format : kWeightFormats) {
    // Slices of columns, slices of rows, and one row.
    for (const auto& [rows, in, out] :
         {std::array<Index, 3>{3, 701, 1003}, {301, 333, 40}, {1, 1100, 2000}}) {
      CAPTURE(static_cast<int>(format), rows, in, out);
      const NumberType type = format == WeightFormat::kQ4K ? NumberType::kQ4K : NumberType::kF32;
      const PackedLinear packed =
          packed_from({type, WeightLayout::kOutIn, out, in, 1}, format, true);
      Random random(2);
      const std::vector<float> x = random_floats(random, rows * in);
      require_same_bits([&](Workspace& workspace) {
        return std::vector<std::vector<float>>{product(packed, x, workspace.pool())};
      });
    }
  }
}

TEST_CASE("parallel: linear maps have the same bits on any number of threads", "[parallel]") {
  const Index rows = 50;
  const Index in = 701;
  const Index out = 1003;
  Random random(11);
  const auto x = random_floats(random, rows * in);
  const auto w = random_floats(random, in * out);
  const auto bias = random_floats(random, out);
  require_same_bits([&](Workspace& workspace) {
    std::vector<float> y(static_cast<std::size_t>(rows * out));
    require_ok(linear({.x = {x.data(), {rows, in}},
                       .w = {w.data(), {in, out}},
                       .bias = {bias.data(), {out}},
                       .out = {y.data(), {rows, out}}},
                      workspace));
    return std::vector<std::vector<float>>{y};
  });
}

TEST_CASE("parallel: blocks have the same bits on any number of threads", "[parallel]") {
  for (const bool gate : {false, true}) {
    TransformerBlockConfig config = decoder();
    config.attention.d_model = 84;
    config.d_feed_forward = 333;
    config.activation = gate ? FeedForwardActivation::kSwiglu : FeedForwardActivation::kGelu;
    config.norm = gate ? NormPlacement::kPost : NormPlacement::kPre;
    BlockProblem p(config, {.batch = 1, .tq = 300, .tk = 50}, 8);
    p.create(p.weights());
    require_same_bits([&](Workspace& workspace) {
      require_ok(p.block.forward(p.args(), workspace));
      return std::vector<std::vector<float>>{p.y};
    });
  }
}

TEST_CASE("parallel: what is announced is taken, and a loop allocates once", "[parallel][memory]") {
  Threads threads(3);
  Problem p({.heads = 4, .kv_heads = 2, .tq = 200, .tk = 205, .dk = 32, .dv = 17}, 9);
  const std::size_t announced = attention_scratch_bytes(p.args(), 3);
  CHECK(announced > attention_scratch_bytes(p.args()));
  Workspace workspace(&threads.pool());
  require_ok(attention(p.args(), workspace));
  CHECK(workspace.capacity_bytes() == announced);
  const std::size_t before = allocation_count();
  for (int i = 0; i < 20; ++i) {
    require_ok(attention(p.args(), workspace));
  }
  CHECK(allocation_count() == before);

  LayerProblem layer({.d_model = 64, .num_heads = 4}, {.batch = 2, .tq = 130}, 10);
  layer.create(layer.weights());
  Workspace fresh(&threads.pool());
  require_ok(layer.layer.forward(layer.args(), fresh));
  CHECK(fresh.capacity_bytes() == layer.layer.forward_scratch_bytes(layer.args(), 3));
  CHECK(fresh.capacity_bytes() > layer.layer.forward_scratch_bytes(layer.args()));
}

}  // namespace
}  // namespace qkv::test::parallel_test
