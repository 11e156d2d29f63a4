// Every argument and option of attention(), wrong in every way its header lists.
#include <catch2/catch_test_macros.hpp>

#include <initializer_list>
#include <limits>
#include <vector>

#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_attention_test {
namespace {

using O = AttentionOptions;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr const char* kFinite = "a finite number";
constexpr const char* kNormal = "a number of at least 1.18e-38";
constexpr Index kHeld = 4;  ///< tokens of a cache

struct AttentionCall : Call, AttentionArgs {
  explicit AttentionCall(const Shape& shape) : Call("attention"), problem(shape, 1) {
    scratch_first = true;
  }

  Status run() override { return attention(*this, workspace); }
  std::size_t scratch_bytes() override { return attention_scratch_bytes(*this); }
  std::vector<Array> arrays() override {
    const Shape& s = problem.shape;
    const std::vector<Index> rows{s.batch, s.heads, s.tq};
    const std::vector<Index> scores{s.batch, s.heads, s.tq, s.tk + (cache ? kHeld : 0)};
    const Demands broadcasts{.broadcasts = true};
    const Demands optional{.optional = true};
    const Demands extra{.written = true, .optional = true};
    return {{"q", q, {kAny, kAny, kAny, kAny}},
            {"k", k, {s.batch, kAny, kAny, s.dk}},
            {"v", v, {s.batch, s.kv_heads, s.tk, kAny}},
            {"mask", options.mask, scores, broadcasts},
            {"additive_mask", options.additive_mask, scores, broadcasts},
            {"bias", options.bias, scores, broadcasts},
            {"key_lengths", options.key_lengths, {s.batch}, optional},
            {"causal_offsets", options.causal_offsets, {s.batch}, optional},
            {"alibi_slopes", options.alibi_slopes, {s.heads}, optional},
            {"sinks", options.sinks, {s.heads}, optional},
            {"out", out, {s.batch, s.heads, s.tq, s.dv}, {.written = true}},
            {"weights", extras.weights, scores, extra},
            {"logits", extras.logits, scores, extra},
            {"lse", extras.lse, rows, extra},
            {"entropy", extras.entropy, rows, extra}};
  }

  Problem problem;
};

/// Grouped heads with a mask, a bias, a causal offset and every extra but the logits.
struct Masked : AttentionCall {
  Masked() : AttentionCall({2, 4, 2, 3, 5, 6, 7}) {
    problem.add_mask({3, 5});
    problem.add_bias({2, 4, 3, 5});
    problem.causal(2);
    static_cast<AttentionArgs&>(*this) = problem.args();
    gather();
  }
};

/// Three queries that read four tokens of a cache and five new ones, with every other array.
struct Cached : AttentionCall {
  Cached() : AttentionCall({2, 4, 2, 3, 5, 6, 7}) {
    require_ok(KvCache::create({2, 2, 10, 6, 7}, held));
    require_ok(
        held.append({problem.k.data(), {2, 2, kHeld, 6}}, {problem.v.data(), {2, 2, kHeld, 7}}));
    static_cast<AttentionArgs&>(*this) = problem.args();
    cache = &held;
    options = {.softcap = 30.0F, .causal = true, .window_left = 3, .window_right = 0};
    options.dropout = {.rate = 0.25F, .seed = 1};
    options.causal_offsets = {offsets, {2}};
    options.key_lengths = {lengths, {2}};
    options.additive_mask = {halves.data(), {3, 9}};
    options.bias = {halves.data(), {1, 4, 1, 9}};
    options.alibi_slopes = options.sinks = {halves.data(), {4}};
    extras.weights = extras.logits = {halves.data(), {2, 4, 3, 9}};
    gather();
  }
  std::vector<float> halves = std::vector<float>(2 * 4 * 3 * 9, 0.5F);
  std::int32_t lengths[2] = {9, 2};
  std::int32_t offsets[2] = {4, -1};
};

/// q, k and v of the same shape, and all extras.
struct Square : AttentionCall {
  Square() : AttentionCall({1, 2, 2, 3, 3, 4, 4}) {
    static_cast<AttentionArgs&>(*this) = problem.args();
    extras.logits = {extras.weights.data, {1, 2, 3, 3}};
    gather();
  }
};

TEST_CASE("attention: the call that the cases below spoil is correct", "[attention][bad-input]") {
  Masked().problem.check();
}

TEST_CASE("attention: arrays of a wrong shape are refused", "[attention][bad-input]") {
  require_shapes_checked(correct<Masked>);
  require_shapes_checked(correct<Cached>);
  require_shapes_checked(correct<Square>);
  require_refused<Masked>({
      {[](auto& c) { c.q.shape[3] = c.k.shape[3] = 0; }, kShapeError, "d_k is 0 and d_v is 7",
       "at least 1"},
      {[](auto& c) { c.v.shape[3] = c.out.shape[3] = 0; }, kShapeError, "d_k is 6 and d_v is 0",
       "at least 1"},
      {[](auto& c) { c.k.shape[1] = c.v.shape[1] = 3; }, kShapeError, "q has 4 heads and k has 3",
       "a multiple"},
      {[](auto& c) { c.k.shape[1] = c.v.shape[1] = 8; }, kShapeError, "q has 4 heads and k has 8",
       "a multiple"},
      {[](auto& c) { c.k.shape[1] = c.v.shape[1] = 0; }, kShapeError, "q has 4 heads and k has 0",
       "a multiple"},
      {[](auto& c) { c.options.bias = {c.options.bias.data, {3, 1, 1, 5}}; }, kShapeError,
       "bias is [3,1,1,5]", "a shape that broadcasts to [2,4,3,5]"},
      {[](auto& c) { c.extras.row_begin = 1; }, kShapeError, "weights is [2,4,3,5]", "[2,4,2,5]"},
  });
}

TEST_CASE("attention: null pointers are refused where elements exist", "[attention][bad-input]") {
  require_data_checked(correct<Masked>);
  require_data_checked(correct<Cached>);
}

TEST_CASE("attention: strides that skip or go backwards are refused", "[attention][bad-input]") {
  require_strides_checked(correct<Masked>);
  require_strides_checked(correct<Cached>);
}

TEST_CASE("attention: an output with two elements in one place is refused",
          "[attention][bad-input]") {
  require_overlaps_refused(correct<Square>);
  require_overlaps_refused(correct<Cached>);
}

TEST_CASE("attention: outputs in the memory of what is read are refused",
          "[attention][bad-input]") {
  require_sharing_refused(correct<Masked>);
  require_sharing_refused(correct<Cached>);
  require_refused<Square>(
      {{[](auto& c) { c.out = split_heads(const_cast<float*>(c.q.data), 1, 3, 2, 4); }, kInvalid,
        "out overlaps q", "separate memory"}});
}

TEST_CASE("attention: arrays that take turns in one memory are apart", "[attention][bad-input]") {
  // The output of a fused projection, [T, 3 H d], with a fourth part for the result.
  std::vector<float> fused(3 * 32, 0.5F);
  const auto part = [&](Index n) {
    TensorView<float> view = split_heads(fused.data() + n * 8, 1, 3, 2, 4);
    view.strides = {96, 4, 32, 1};
    return view;
  };
  Workspace workspace;
  AttentionArgs args{.q = part(0), .k = part(1), .v = part(2), .out = part(3)};
  require_ok(attention(args, workspace));
  CHECK(fused[24] == 0.5F);
  // Without elements there is nothing to share.
  args.q.shape[2] = args.out.shape[2] = 0;
  args.out.data = fused.data();
  require_ok(attention(args, workspace));
}

/// Sets an option.
template <class T>
auto set(T O::* field, std::type_identity_t<T> value) {
  return [=](auto& c) { c.options.*field = value; };
}
/// Sets an element of an array of lengths, offsets or numbers for each head.
template <class T>
auto set(TensorView<const T> O::* field, Index at, T value) {
  return [=](auto& c) { const_cast<T&>((c.options.*field).data[at]) = value; };
}

TEST_CASE("attention: numbers without meaning are refused", "[attention][bad-input]") {
  const auto rate = [](float value) { return [=](auto& c) { c.options.dropout.rate = value; }; };
  require_refused<Cached>({
      {set(&O::scale, kNan), kInvalid, "scale is NaN", kFinite},
      {set(&O::scale, kInf), kInvalid, "scale is Infinity", kFinite},
      {set(&O::scale, -kInf), kInvalid, "scale is -Infinity", kFinite},
      {set(&O::softcap, kNan), kInvalid, "softcap is NaN", kFinite},
      {set(&O::softcap, kInf), kInvalid, "softcap is Infinity", kFinite},
      {set(&O::softcap, -1.5F), kRange, "softcap is -1.5", "at least 0 (none)"},
      {set(&O::window_left, -2), kRange, "window_left is -2", "at least -1 (unbounded)"},
      {set(&O::window_right, -7), kRange, "window_right is -7", "at least -1 (unbounded)"},
      {rate(kNan), kInvalid, "dropout.rate is NaN", kFinite},
      {rate(kInf), kInvalid, "dropout.rate is Infinity", kFinite},
      {rate(1.0F), kRange, "dropout.rate is 1", "[0, 1)"},
      {rate(-0.5F), kRange, "dropout.rate is -0.5", "[0, 1)"},
      {set(&O::key_lengths, 1, -1), kRange, "key_lengths[1] is -1", "0 to 9"},
      {set(&O::key_lengths, 1, 10), kRange, "key_lengths[1] is 10", "0 to 9"},
      {set(&O::alibi_slopes, 2, kNan), kInvalid, "alibi_slopes[2] is NaN", kFinite},
      {set(&O::alibi_slopes, 1, -kInf), kInvalid, "alibi_slopes[1] is -Infinity", kFinite},
      {set(&O::sinks, 2, kNan), kInvalid, "sinks[2] is NaN", kFinite},
      {set(&O::sinks, 1, -kInf), kInvalid, "sinks[1] is -Infinity", kFinite},
      {[](auto& c) { c.extras.logit_stage = static_cast<LogitStage>(3); }, kInvalid,
       "logit_stage is 3", "a value of LogitStage"},
  });
}

TEST_CASE("attention: a temperature that is not a positive normal float is refused",
          "[attention][bad-input]") {
  require_refused<Masked>({
      {set(&O::temperature, 0.0F), kInvalid, "temperature is 0", kNormal},
      {set(&O::temperature, -1.0F), kInvalid, "temperature is -1", kNormal},
      {set(&O::temperature, -1.5F), kInvalid, "temperature is -1.5", kNormal},
      {set(&O::temperature, 1e-40F), kInvalid, "temperature is 9.99995e-41", kNormal},
      {set(&O::temperature, kNan), kInvalid, "temperature is NaN", kNormal},
      {set(&O::temperature, kInf), kInvalid, "temperature is Infinity", kNormal},
  });
}

TEST_CASE("attention: a causal offset is asked for, and asked to mean something",
          "[attention][bad-input][causal]") {
  require_refused<Masked>({
      {set(&O::causal, false), kInvalid, "causal_offset is 2 without causal",
       "causal = true, a window or alibi_slopes too"},
      {set(&O::causal_offset, std::nullopt), kInvalid, "causal with 3 queries and 5 keys",
       "a causal_offset (0 aligns the first query with "
       "the first key, 2 the last with the last)"},
  });
  require_refused<Cached>({
      {set(&O::causal_offset, 0), kInvalid, "causal_offsets are given together with causal_offset",
       "one of the two"},
      {[](auto& c) {
         c.options.causal = false;
         c.options.window_left = c.options.window_right = -1;
         c.options.alibi_slopes = {};
       },
       kInvalid, "causal_offsets are given without causal",
       "causal = true, a window or alibi_slopes "
       "too"},
  });
}

TEST_CASE("attention: weight rows outside the queries are refused", "[attention][bad-input]") {
  const auto rows = [](Index begin, Index end) {
    return [=](auto& c) {
      c.extras.row_begin = begin;
      c.extras.row_end = end;
    };
  };
  require_refused<Masked>({
      {rows(-1, 2), kRange, "rows are [-1, 2)", "a range within [0, 3)"},
      {rows(0, 4), kRange, "rows are [0, 4)", "a range within [0, 3)"},
      {rows(0, 9), kRange, "rows are [0, 9)", "a range within [0, 3)"},
      {rows(2, 1), kRange, "rows are [2, 1)", "a range within [0, 3)"},
      {rows(4, -1), kRange, "rows are [4, 3)", "a range within [0, 3)"},
  });
}

TEST_CASE("attention: a cache that does not fit is refused", "[attention][cache][bad-input]") {
  const auto cache = [](const KvCacheConfig& config) {
    return [=](auto& c) { require_ok(KvCache::create(config, c.held)); };
  };
  require_refused<Cached>({
      {cache({1, 2, 9, 6, 7}), kShapeError, "the cache holds keys [1,2,*,6] and values [1,2,*,7]",
       "[2,2,*,6] and [2,2,*,7]"},
      {cache({2, 4, 9, 6, 7}), kShapeError, "the cache holds keys [2,4,*,6] and values [2,4,*,7]",
       "[2,2,*,6] and [2,2,*,7]"},
      {cache({2, 2, 9, 7, 7}), kShapeError, "the cache holds keys [2,2,*,7] and values [2,2,*,7]",
       "[2,2,*,6] and [2,2,*,7]"},
      {cache({2, 2, 9, 6, 6}), kShapeError, "the cache holds keys [2,2,*,6] and values [2,2,*,6]",
       "[2,2,*,6] and [2,2,*,7]"},
      {cache({2, 2, 4, 6, 7}), kRange, "the cache holds 0 of 4 tokens and 5 are to be added",
       "at most 4"},
      {[](auto& c) { require_ok(c.run()); }, kRange,  // a second time
       "the cache holds 9 of 10 tokens and 5 are to be added", "at most 1"},
      {[](auto& c) { c.held = {}; }, kInvalid, "the cache is empty", "one made by create()"},
  });
}

TEST_CASE("attention: after a refusal the workspace still serves", "[attention][bad-input]") {
  Masked call;
  call.options.temperature = 0.0F;
  CHECK(!attention(call, call.problem.workspace).ok());
  call.problem.check();
}

}  // namespace
}  // namespace qkv::test::bad_input_attention_test
