// The options and extras of attention() that bad_input_attention_test.cpp leaves out, each wrong in
// every way its header lists, on a call with a cache, which must keep its length and contents.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr Index kHeld = 4;
constexpr Index kAdded = 5;

/// Three queries of two batch rows and four heads that read four tokens of a cache and five new ones,
/// with every option that is an array.
struct Call {
  Call()
      : problem({.batch = 2, .heads = 4, .kv_heads = 2, .tq = 3, .tk = kAdded, .dk = 6, .dv = 7},
                5),
        floats(2 * 4 * 3 * 9, 0.5F),
        lengths{9, 2},
        offsets{4, -1},
        logits(floats.size(), kUntouched),
        weights(floats.size(), kUntouched) {
    require_ok(KvCache::create({.batch = 2, .num_kv_heads = 2, .capacity = 10, .d_k = 6, .d_v = 7},
                               cache));
    require_ok(
        cache.append({problem.k.data(), {2, 2, kHeld, 6}}, {problem.v.data(), {2, 2, kHeld, 7}}));
    args = problem.args();
    args.cache = &cache;
    AttentionOptions& o = args.options;
    o.causal = true;
    o.causal_offsets = {offsets.data(), {2}};
    o.window_left = 3;
    o.window_right = 0;
    o.key_lengths = {lengths.data(), {2}};
    o.additive_mask = {floats.data(), {3, 9}};
    o.bias = {floats.data(), {1, 4, 1, 9}};
    o.alibi_slopes = {floats.data(), {4}};
    o.sinks = {floats.data(), {4}};
    o.softcap = 30.0F;
    o.dropout = {.rate = 0.25F, .seed = 1};
    args.extras.weights = {weights.data(), {2, 4, 3, 9}};
    args.extras.logits = {logits.data(), {2, 4, 3, 9}};
  }

  [[nodiscard]] std::vector<float> held() const {
    std::vector<float> both(static_cast<std::size_t>(4 * cache.length() * 13));
    float* values = both.data() + 4 * cache.length() * 6;
    require_ok(cache.read_keys({both.data(), {2, 2, cache.length(), 6}}));
    require_ok(cache.read_values({values, {2, 2, cache.length(), 7}}));
    return both;
  }

  Problem problem;
  std::vector<float> floats;
  std::vector<std::int32_t> lengths, offsets;
  std::vector<float> logits, weights;
  KvCache cache;
  AttentionArgs args;
};

struct Case {
  const char* what;
  Spoil<Call&> spoil;
  Refusal refusal;
};

void require_all_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.what);
    Call call;
    const std::vector<float> held = call.held();
    c.spoil(call);
    const std::size_t allocations = allocation_count();
    require_refused(attention(call.args, call.problem.workspace), "attention", c.refusal);
    CHECK(attention_scratch_bytes(call.args) == 0);
    CHECK(allocation_count() == allocations);
    CHECK(call.cache.length() == kHeld);
    CHECK(call.held() == held);
    Result& result = call.problem.result;
    for (const auto* written :
         {&result.out, &result.lse, &result.entropy, &call.logits, &call.weights}) {
      CHECK(*written == std::vector<float>(written->size(), kUntouched));
    }
  }
}

TEST_CASE("attention options: the call that the cases below spoil is correct",
          "[attention][bad-input]") {
  Call call;
  require_ok(attention(call.args, call.problem.workspace));
  CHECK(call.cache.length() == kHeld + kAdded);
  CHECK(std::find(call.logits.begin(), call.logits.end(), kUntouched) == call.logits.end());
}

TEST_CASE("attention options: numbers without meaning are refused", "[attention][bad-input]") {
  const auto set = [](auto field, auto value) {
    return [=](Call& c) { c.args.options.*field = value; };
  };
  using O = AttentionOptions;
  const auto rate = [](float value) {
    return [value](Call& c) { c.args.options.dropout.rate = value; };
  };
  require_all_refused({
      {"softcap NaN", set(&O::softcap, kNan), {kInvalid, "softcap is", "nan", "finite"}},
      {"softcap inf", set(&O::softcap, kInf), {kInvalid, "softcap is", "inf", "finite"}},
      {"softcap < 0", set(&O::softcap, -1.5F), {kRange, "softcap is", "-1.5", "at least 0"}},
      {"left", set(&O::window_left, Index{-2}), {kRange, "window_left is", "-2", "at least -1"}},
      {"right", set(&O::window_right, Index{-7}), {kRange, "window_right is", "-7", "at least -1"}},
      {"rate NaN", rate(kNan), {kInvalid, "dropout.rate is", "nan", "finite"}},
      {"rate inf", rate(kInf), {kInvalid, "dropout.rate is", "inf", "finite"}},
      {"rate 1", rate(1.0F), {kRange, "dropout.rate is", "1", "[0, 1)"}},
      {"rate < 0", rate(-0.5F), {kRange, "dropout.rate is", "-0.5", "[0, 1)"}},
  });
}

TEST_CASE("attention options: key lengths that do not fit are refused", "[attention][bad-input]") {
  const auto length = [](std::int32_t value) { return [value](Call& c) { c.lengths[1] = value; }; };
  require_all_refused({
      {"rank 2",
       [](Call& c) { c.args.options.key_lengths = {c.lengths.data(), {1, 2}}; },
       {kShapeError, "key_lengths is", "[1,2]", "[2]"}},
      {"one",
       [](Call& c) { c.args.options.key_lengths.shape[0] = 1; },
       {kShapeError, "key_lengths is", "[1]", "[2]"}},
      {"null",
       [](Call& c) { c.args.options.key_lengths.data = nullptr; },
       {kInvalid, "key_lengths has no data", "[2]", "elements"}},
      {"strided",
       [](Call& c) { c.args.options.key_lengths.strides[0] = 2; },
       {kInvalid, "of key_lengths", "stride 2", "expected 1"}},
      {"negative", length(-1), {kRange, "key_lengths[1] is", "-1", "0 to 9"}},
      {"past the cache and the new", length(10), {kRange, "key_lengths[1] is", "10", "0 to 9"}},
  });
}

TEST_CASE("attention options: causal offsets that do not fit are refused",
          "[attention][bad-input]") {
  require_all_refused({
      {"rank 2",
       [](Call& c) { c.args.options.causal_offsets = {c.offsets.data(), {2, 1}}; },
       {kShapeError, "causal_offsets is", "[2,1]", "[2]"}},
      {"three",
       [](Call& c) { c.args.options.causal_offsets.shape[0] = 3; },
       {kShapeError, "causal_offsets is", "[3]", "[2]"}},
      {"null",
       [](Call& c) { c.args.options.causal_offsets.data = nullptr; },
       {kInvalid, "causal_offsets has no data", "[2]", "elements"}},
      {"strided",
       [](Call& c) { c.args.options.causal_offsets.strides[0] = 0; },
       {kInvalid, "of causal_offsets", "stride 0", "expected 1"}},
      {"one for all too",
       [](Call& c) { c.args.options.causal_offset = 0; },
       {kInvalid, "causal_offsets are given", "beside causal_offset", "one of the two"}},
      {"where nothing measures by them",
       [](Call& c) {
         c.args.options.causal = false;
         c.args.options.window_left = c.args.options.window_right = -1;
         c.args.options.alibi_slopes = {};
       },
       {kInvalid, "causal_offsets are given", "without causal",
        "causal = true, a window or alibi"}},
  });
}

TEST_CASE("attention options: arrays for each head that do not fit are refused",
          "[attention][bad-input]") {
  static float odd[] = {1.0F, 2.0F, kNan, 4.0F};
  static float endless[] = {1.0F, -kInf, 3.0F, 4.0F};
  const std::pair<const char*, TensorView<const float> AttentionOptions::*> arrays[] = {
      {"alibi_slopes", &AttentionOptions::alibi_slopes}, {"sinks", &AttentionOptions::sinks}};
  for (const auto& [name, field] : arrays) {
    const auto array = field;
    const std::string text = name;
    const std::string is = text + " is";
    const std::string of = "of " + text;
    const std::string no_data = text + " has no data";
    const std::string third = text + "[2] is";
    const std::string second = text + "[1] is";
    const auto set = [array](TensorView<const float> view) {
      return [=](Call& c) { c.args.options.*array = view; };
    };
    require_all_refused({
        {"rank 2", set({odd, {1, 4}}), {kShapeError, is.c_str(), "[1,4]", "[4]"}},
        {"key heads", set({odd, {2}}), {kShapeError, is.c_str(), "[2]", "[4]"}},
        {"null", set({nullptr, {4}}), {kInvalid, no_data.c_str(), "[4]", "elements"}},
        {"strided",
         [array](Call& c) { (c.args.options.*array).strides[0] = 3; },
         {kInvalid, of.c_str(), "stride 3", "expected 1"}},
        {"NaN", set({odd, {4}}), {kInvalid, third.c_str(), "nan", "finite"}},
        {"-inf", set({endless, {4}}), {kInvalid, second.c_str(), "-inf", "finite"}},
    });
  }
}

TEST_CASE("attention options: an additive mask that does not broadcast is refused",
          "[attention][bad-input]") {
  const auto shape = [](std::initializer_list<Index> extents) {
    return [view = TensorView<const float>(nullptr, extents)](Call& c) {
      c.args.options.additive_mask = view;
      c.args.options.additive_mask.data = c.floats.data();
    };
  };
  const char* target = "[2,4,3,9]";
  require_all_refused({
      {"new keys only", shape({3, 5}), {kShapeError, "additive_mask is", "[3,5]", target}},
      {"heads", shape({2, 1, 9}), {kShapeError, "additive_mask is", "[2,1,9]", target}},
      {"rank above 4",
       [](Call& c) { c.args.options.additive_mask.rank = 5; },
       {kShapeError, "additive_mask is", "of rank 5", target}},
      {"null",
       [](Call& c) { c.args.options.additive_mask.data = nullptr; },
       {kInvalid, "additive_mask has no data", "[3,9]", "elements"}},
  });
}

TEST_CASE("attention extras: logits and their stage are checked", "[attention][bad-input]") {
  require_all_refused({
      {"rank 3",
       [](Call& c) { c.args.extras.logits.rank = 3; },
       {kShapeError, "logits is", "[2,4,3]", "[2,4,3,9]"}},
      {"new keys only",
       [](Call& c) { c.args.extras.logits.shape[3] = kAdded; },
       {kShapeError, "logits is", "[2,4,3,5]", "[2,4,3,9]"}},
      {"null",
       [](Call& c) { c.args.extras.logits.data = nullptr; },
       {kInvalid, "logits has no data", "[2,4,3,9]", "elements"}},
      {"strided",
       [](Call& c) { c.args.extras.logits.strides[3] = 2; },
       {kInvalid, "of logits", "stride 2", "expected 1"}},
      {"no stage",
       [](Call& c) { c.args.extras.logit_stage = static_cast<LogitStage>(3); },
       {kInvalid, "logit_stage is", "3", "a value of LogitStage"}},
  });
}

TEST_CASE("attention: a cache that does not fit is refused", "[attention][cache][bad-input]") {
  const auto cache = [](const KvCacheConfig& config) {
    return [config](Call& c) { require_ok(KvCache::create(config, c.cache)); };
  };
  const auto refuse = [](const auto& make, const Refusal& refusal) {
    Call call;
    make(call);
    require_refused(attention(call.args, call.problem.workspace), "attention", refusal);
    CHECK(call.cache.length() == 0);
    CHECK(call.problem.result.out ==
          std::vector<float>(call.problem.result.out.size(), kUntouched));
  };
  const char* wanted = "expected [2,2,*,6] and [2,2,*,7]";
  const char* holds = "the cache holds keys";
  const KvCacheConfig fits{.batch = 2, .num_kv_heads = 2, .capacity = 9, .d_k = 6, .d_v = 7};
  KvCacheConfig wrong = fits;
  wrong.batch = 1;
  refuse(cache(wrong), {kShapeError, holds, "[1,2,*,6] and values [1,2,*,7]", wanted});
  wrong = fits;
  wrong.num_kv_heads = 4;
  refuse(cache(wrong), {kShapeError, holds, "[2,4,*,6] and values [2,4,*,7]", wanted});
  wrong = fits;
  wrong.d_k = 7;
  refuse(cache(wrong), {kShapeError, holds, "[2,2,*,7] and values [2,2,*,7]", wanted});
  wrong = fits;
  wrong.d_v = 6;
  refuse(cache(wrong), {kShapeError, holds, "[2,2,*,6] and values [2,2,*,6]", wanted});
  wrong = fits;
  wrong.capacity = 4;
  refuse(cache(wrong), {kRange, "the cache holds 0 of 4 tokens", "5 are to be added", "at most 4"});
  refuse([](Call& c) { c.cache = {}; }, {kInvalid, "the cache is", "empty", "made by create()"});
}

TEST_CASE("attention: beyond the capacity a cache keeps what it holds", "[attention][bad-input]") {
  Call call;
  require_ok(attention(call.args, call.problem.workspace));  // 9 of 10
  const std::vector<float> held = call.held();
  const std::vector<float> out = call.problem.result.out;
  require_refused(attention(call.args, call.problem.workspace), "attention",
                  {kRange, "the cache holds 9 of 10 tokens", "5 are to be added", "at most 1"});
  CHECK(call.cache.length() == 9);
  CHECK(call.held() == held);
  CHECK(call.problem.result.out == out);
}

}  // namespace
}  // namespace qkv::test
