// What layers and blocks hand on: rotary options, all options of the attention, and a cache.
#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <limits>

#include "block.hpp"
#include "layer.hpp"
#include "refusal.hpp"

namespace qkv::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr const char* kCreate = "MultiHeadAttention::create";
constexpr const char* kForward = "MultiHeadAttention::forward";

MultiHeadAttentionConfig rotary_config() {
  MultiHeadAttentionConfig config{.d_model = 12, .num_heads = 3};
  config.rotary.emplace();
  return config;
}

TEST_CASE("create: rotary options without meaning are refused", "[layer][rotary][bad-input]") {
  static const std::vector<float> table(64, 0.5F);
  static constexpr std::int32_t kPlaces[8] = {};
  const struct {
    const char* what;
    Spoil<RotaryOptions&> spoil;
    Refusal refusal;
  } cases[] = {
      {"base",
       [](RotaryOptions& r) { r.base = 0.0; },
       {kInvalid, "rotary: base is", "0", "at least 1"}},
      {"odd", [](RotaryOptions& r) { r.rotary_dim = 3; }, {kRange, "rotary_dim is", "3", "even"}},
      {"wide", [](RotaryOptions& r) { r.rotary_dim = 6; }, {kRange, "rotary_dim is", "6", "d = 4"}},
      {"factor",
       [](RotaryOptions& r) {
         r.scaling.type = RotaryScaling::Type::kNtk;
         r.scaling.factor = std::numeric_limits<double>::quiet_NaN();
       },
       {kInvalid, "scaling.factor is", "nan", "at least 1"}},
      {"cos alone",
       [](RotaryOptions& r) { r.cos = {table.data(), {5, 2}}; },
       {kInvalid, "cos is given without sin", "", "both"}},
      {"tables of another width",
       [](RotaryOptions& r) { r.cos = r.sin = {table.data(), {5, 3}}; },
       {kShapeError, "cos is", "[5,3]", "[*,2]"}},
      {"tables with gaps",
       [](RotaryOptions& r) {
         r.cos = r.sin = {table.data(), {5, 2}};
         r.sin.strides[0] = 3;
       },
       {kInvalid, "axis 0 of rotary.sin", "stride 3", "expected 2"}},
      {"positions null",
       [](RotaryOptions& r) { r.positions = {nullptr, {4}}; },
       {kInvalid, "rotary.positions has no data", "[4]", "elements"}},
      {"positions strided",
       [](RotaryOptions& r) {
         r.positions = {kPlaces, {4}};
         r.positions.strides[0] = 2;
       },
       {kInvalid, "the last axis of rotary.positions", "stride 2", "expected 1"}},
  };
  LayerProblem there({.d_model = 4, .num_heads = 2}, {.tq = 3}, 2);
  const LayerResult before = there.run();
  for (const auto& c : cases) {
    INFO(c.what);
    const LayerProblem p(rotary_config(), {.tq = 4}, 1);
    MultiHeadAttentionConfig config = p.config;
    c.spoil(*config.rotary);
    const std::size_t bytes = allocated_bytes();
    require_refused(MultiHeadAttention::create(config, p.weights(), there.layer), kCreate,
                    c.refusal);
    CHECK(allocated_bytes() == bytes);
    CHECK(first_difference(before.y, there.run().y) == "");
  }
}

TEST_CASE("forward: positions that the tokens do not have are refused",
          "[layer][rotary][bad-input]") {
  static constexpr std::int32_t kPlaces[8] = {};
  const auto refuse = [](const std::function<void(RotaryOptions&)>& set, Index cached,
                         const Refusal& refusal) {
    MultiHeadAttentionConfig config = rotary_config();
    set(*config.rotary);
    LayerProblem p(config, {.tq = 4}, 1);
    p.create(p.weights());
    KvCache cache;
    require_ok(KvCache::create({.num_kv_heads = 3, .capacity = 9, .d_k = 4}, cache));
    const std::vector<float> held(static_cast<std::size_t>(cached * 12), 0.5F);
    const TensorView<const float> tokens(held.data(), {1, 3, cached, 4});
    require_ok(cache.append(tokens, tokens));
    auto args = p.args();
    args.extras = {};
    args.cache = &cache;
    require_refused(p.layer.forward(args, p.workspace), kForward, refusal);
    CHECK(cache.length() == cached);
    CHECK(p.result.y == std::vector<float>(p.result.y.size(), kUntouched));
  };
  refuse([](RotaryOptions& r) { r.positions = {kPlaces, {5}}; }, 0,
         {kShapeError, "rotary: positions is", "[5]", "[4]"});
  refuse([](RotaryOptions& r) { r.positions = {kPlaces, {2, 4}}; }, 0,
         {kShapeError, "rotary: positions is", "[2,4]", "[1,4]"});
  refuse([](RotaryOptions& r) { r.offset = kMaxPosition - 2; }, 0,
         {kRange, "rotary: offset + tokens - 1 is", "1048577", "1048576"});
  refuse([](RotaryOptions& r) { r.offset = kMaxPosition - 4; }, 2,
         {kRange, "rotary: offset + tokens - 1 is", "1048577", "1048576"});
}

struct Case {
  const char* what;
  Spoil<AttentionOptions&> spoil;
  Refusal refusal;
};

/// For a layer or block with 2 batch rows and 4 heads, over 6 queries and 8 keys.
std::vector<Case> wrong_options() {
  static const std::vector<float> floats(500, kNan);
  static constexpr std::int32_t kLengths[] = {3, 9};
  using O = AttentionOptions;
  return {
      {"softcap", [](O& o) { o.softcap = -1.0F; }, {kRange, "softcap is", "-1", "at least 0"}},
      {"left", [](O& o) { o.window_left = -2; }, {kRange, "window_left is", "-2", "at least -1"}},
      {"right",
       [](O& o) { o.window_right = -3; },
       {kRange, "window_right is", "-3", "at least -1"}},
      {"rate", [](O& o) { o.dropout.rate = 1.0F; }, {kRange, "dropout.rate is", "1", "[0, 1)"}},
      {"lengths",
       [](O& o) { o.key_lengths = {kLengths, {2}}; },
       {kRange, "key_lengths[1] is", "9", "0 to 8"}},
      {"offsets",
       [](O& o) { o.causal_offsets = {kLengths, {1}}; },
       {kShapeError, "causal_offsets is", "[1]", "[2]"}},
      {"sinks",
       [](O& o) { o.sinks = {floats.data(), {4}}; },
       {kInvalid, "sinks[0] is", "nan", "fin"}},
      {"slopes",
       [](O& o) { o.alibi_slopes = {floats.data(), {2}}; },
       {kShapeError, "alibi_slopes is", "[2]", "[4]"}},
      {"additive mask",
       [](O& o) { o.additive_mask = {floats.data(), {6, 6}}; },
       {kShapeError, "additive_mask is", "[6,6]", "[2,4,6,8]"}},
  };
}

/// Two tokens of two batch rows and `heads` heads of width 3.
KvCache cache_of_two(Index heads, Index d_v) {
  KvCache cache;
  require_ok(KvCache::create(
      {.batch = 2, .num_kv_heads = heads, .capacity = 20, .d_k = 3, .d_v = d_v}, cache));
  const std::vector<float> numbers(static_cast<std::size_t>(4 * heads * d_v + 12 * heads), 0.75F);
  require_ok(
      cache.append({numbers.data(), {2, heads, 2, 3}}, {numbers.data(), {2, heads, 2, d_v}}));
  return cache;
}

std::vector<float> held_keys(const KvCache& cache) {
  const Index heads = cache.config().num_kv_heads;
  std::vector<float> keys(static_cast<std::size_t>(2 * heads * cache.length() * 3));
  require_ok(cache.read_keys({keys.data(), {2, heads, cache.length(), 3}}));
  return keys;
}

TEST_CASE("forward: all options are checked in its own name, and a cache stays as it was",
          "[layer][bad-input]") {
  LayerProblem p({.d_model = 12, .num_heads = 4, .num_kv_heads = 2, .d_k = 3, .d_v = 5},
                 {.batch = 2, .tq = 6}, 1);
  p.create(p.weights());
  KvCache cache = cache_of_two(2, 5);
  const std::vector<float> keys = held_keys(cache);
  for (const Case& c : wrong_options()) {
    INFO(c.what);
    auto args = p.args();
    args.extras = {};
    args.cache = &cache;
    args.options.causal = true;
    c.spoil(args.options);
    require_refused(p.layer.forward(args, p.workspace), kForward, c.refusal);
    CHECK(p.workspace.capacity_bytes() == 0);
    CHECK(cache.length() == 2);
    CHECK(held_keys(cache) == keys);
    CHECK(p.result.y == std::vector<float>(p.result.y.size(), kUntouched));
  }
  KvCache other = cache_of_two(4, 3);
  auto args = p.args();
  args.extras = {};
  args.cache = &other;
  require_refused(p.layer.forward(args, p.workspace), kForward,
                  {kShapeError, "the cache holds keys", "[2,4,*,3] and values [2,4,*,3]",
                   "expected [2,2,*,3] and [2,2,*,5]"});
  KvCache empty;
  args.cache = &empty;
  require_refused(p.layer.forward(args, p.workspace), kForward,
                  {kInvalid, "the cache is", "empty", "made by create()"});
}

TEST_CASE("block: all options are checked in its own name, and a cache stays as it was",
          "[block][bad-input]") {
  constexpr const char* kName = "TransformerBlock::forward";
  BlockProblem p(
      {.attention = {.d_model = 12, .num_heads = 4, .num_kv_heads = 2, .d_k = 3, .d_v = 5},
       .d_feed_forward = 8},
      {.batch = 2, .tq = 6}, 3);
  p.create(p.weights());
  KvCache cache = cache_of_two(2, 5);
  const std::vector<float> keys = held_keys(cache);
  for (const Case& c : wrong_options()) {
    INFO(c.what);
    auto args = p.args();
    args.cache = &cache;
    args.options.causal = true;
    c.spoil(args.options);
    require_refused(p.block.forward(args, p.workspace), kName, c.refusal);
    CHECK(cache.length() == 2);
    CHECK(held_keys(cache) == keys);
    CHECK(p.y == std::vector<float>(p.y.size(), kUntouched));
  }
  KvCache other = cache_of_two(4, 3);
  auto args = p.args();
  args.cache = &other;
  require_refused(p.block.forward(args, p.workspace), kName,
                  {kShapeError, "the cache holds keys", "[2,4,*,3]", "expected [2,2,*,3]"});
  CHECK(other.length() == 2);
}

}  // namespace
}  // namespace qkv::test
