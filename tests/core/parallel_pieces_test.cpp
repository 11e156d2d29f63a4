// Pieces of the keys of a few rows, computed by several threads: the bits of one thread.
#include <catch2/catch_test_macros.hpp>

#include "problem.hpp"
#include "qkv/threads.hpp"

namespace qkv::test::parallel_pieces_test {
namespace {

/// All that a call writes, the logits too. With a format the keys are in a cache, but for the last ones.
std::vector<float> everything(Problem& p, Workspace& workspace, const CacheFormat* format) {
  const Shape& s = p.shape;
  AttentionArgs args = p.args();
  std::vector<float> logits(p.result.weights.size(), kUntouched);
  args.extras.logits = {logits.data(), {s.batch, s.heads, s.tq, s.tk}};
  args.extras.logit_stage = LogitStage::kBiased;
  KvCache cache;
  if (format) {
    require_ok(KvCache::create({.batch = s.batch,
                                .num_kv_heads = s.kv_heads,
                                .capacity = s.tk,
                                .d_k = s.dk,
                                .d_v = s.dv,
                                .format = *format},
                               cache));
    auto earlier = std::pair(args.k, args.v);
    for (auto* view : {&earlier.first, &earlier.second}) {
      view->shape[2] = s.tk - s.tq;
    }
    require_ok(cache.append(earlier.first, earlier.second));
    for (auto* view : {&args.k, &args.v}) {
      view->data += (s.tk - s.tq) * view->stride(2);
      view->shape[2] = s.tq;
    }
    args.cache = &cache;
  }
  require_ok(attention(args, workspace));
  return joined({&p.result.out, &p.result.weights, &p.result.lse, &p.result.entropy, &logits});
}

TEST_CASE("parallel: pieces of keys have the same bits on any number of threads", "[parallel]") {
  Threads some[] = {Threads(2), Threads(3), Threads(4)};
  std::uint64_t seed = 1;
  for (const Index kv_heads : {1, 2, 5}) {
    for (const Index tq : {1, 4}) {
      for (const Index tk : {1024, 1030, 4100}) {
        for (const int options : {0, 1, 2}) {
          Problem p({.batch = 2 - kv_heads % 2,
                     .heads = 4 * kv_heads,
                     .kv_heads = kv_heads,
                     .tq = tq,
                     .tk = tk,
                     .dk = 24,
                     .dv = 40},
                    seed++);
          const std::vector<float> per_head(static_cast<std::size_t>(p.shape.heads), 0.05F);
          p.causal(tk - tq);
          p.options.window_left = options == 1 ? 2000 : -1;
          if (options == 2) {
            p.add_mask({1, 1, tq, tk});
            p.options.alibi_slopes = {per_head.data(), {p.shape.heads}};
            p.options.sinks = {per_head.data(), {p.shape.heads}};
            p.options.dropout = {.rate = 0.1F, .seed = 3};
          }
          constexpr CacheFormat kFormats[] = {CacheFormat::kF32, CacheFormat::kBf16,
                                              CacheFormat::kInt8};
          for (const CacheFormat* format :
               {static_cast<const CacheFormat*>(nullptr), kFormats, kFormats + 1, kFormats + 2}) {
            Workspace alone;
            const std::vector<float> expected = everything(p, alone, format);
            for (Threads& threads : some) {
              CAPTURE(kv_heads, tq, tk, options, &threads - some);
              Workspace workspace(&threads.pool());
              REQUIRE(first_difference(everything(p, workspace, format), expected) == "");
            }
          }
        }
      }
    }
  }
}

TEST_CASE("parallel: a token more rarely needs more memory for pieces of keys",
          "[parallel][memory]") {
  Problem p({.heads = 4, .kv_heads = 1, .tq = 1, .tk = 8192, .dk = 64, .dv = 64}, 1);
  KvCache cache;
  require_ok(KvCache::create({.num_kv_heads = 1, .capacity = 9000, .d_k = 64}, cache));
  AttentionArgs args = p.args();
  args.extras = {};
  std::size_t sizes = 1;
  std::size_t last = 0;
  for (Index t = 0; t < 8192; t += 64) {
    args.k.shape[2] = args.v.shape[2] = 64;
    require_ok(cache.append(args.k, args.v));
    args.k.shape[2] = args.v.shape[2] = 1;
    args.cache = &cache;
    const std::size_t bytes = attention_scratch_bytes(args, 3);
    REQUIRE(bytes > 0);
    sizes += last != 0 && bytes != last ? 1 : 0;
    last = bytes;
  }
  CHECK(sizes <= 5);  // no pieces, then 2, 4, 8 and 16
}

}  // namespace
}  // namespace qkv::test::parallel_pieces_test
