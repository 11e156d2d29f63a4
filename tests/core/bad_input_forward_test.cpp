// MultiHeadAttention::forward and TransformerBlock::forward: arrays, options and caches, wrong in every way
// the headers list.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <vector>

#include "block.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_forward_test {
namespace {

constexpr std::int32_t kZeros[8] = {};
constexpr MultiHeadAttentionConfig kGrouped{
    .d_model = 12, .num_heads = 4, .num_kv_heads = 2, .d_k = 3, .d_v = 5};

MultiHeadAttention& made(LayerProblem& p) { return p.layer; }
TransformerBlock& made(BlockProblem& p) { return p.block; }
const MultiHeadAttentionConfig& sizes(LayerProblem& p) { return p.resolved; }
const MultiHeadAttentionConfig& sizes(BlockProblem& p) { return p.cross.resolved; }

/// Of a layer or a block with extras that are all written.
template <class Problem, class Args>
struct Forward : Call, Args {
  Forward(const char* name, const auto& config, const LayerShape& shape)
      : Call(name), problem(config, shape, 1) {
    problem.create(problem.weights());
    static_cast<Args&>(*this) = problem.args();
    this->extras.lse = {lse.data(), {shape.batch, sizes(problem).num_heads, shape.tq}};
    scratch_first = true;
  }
  /// Decodes after so many tokens in a cache.
  void hold(Index heads, Index tokens, Index d_v) {
    const Index batch = problem.shape.batch;
    const Index d_k = sizes(problem).d_k;
    const std::vector<float> numbers(500, 0.75F);
    require_ok(KvCache::create({batch, heads, 20, d_k, d_v}, held));
    require_ok(held.append({numbers.data(), {batch, heads, tokens, d_k}},
                           {numbers.data(), {batch, heads, tokens, d_v}}));
    this->cache = &held;
  }
  Status run() override { return made(problem).forward(*this, workspace); }
  std::size_t scratch_bytes() override { return made(problem).forward_scratch_bytes(*this); }

  Problem problem;
  std::vector<float> lse = std::vector<float>(48, kUntouched);
};

struct Layer : Forward<LayerProblem, MultiHeadAttention::ForwardArgs> {
  Layer(const MultiHeadAttentionConfig& config, const LayerShape& shape)
      : Forward("MultiHeadAttention::forward", config, shape) {}
  std::vector<Array> arrays() override {
    const Demands extra{.written = true, .optional = true};
    const auto [batch, tq, tk] = problem.shape;
    return {{"x", x, {kAny, kAny, 12}, {.dense = true}},
            {"context", context, {batch, kAny, 7}, {.dense = true, .optional = true}},
            {"y", y, {batch, tq, 12}, {.written = true, .dense = true}},
            {"weights", extras.weights, {batch, 4, tq, tk}, extra},
            {"lse", extras.lse, {batch, 4, tq}, extra},
            {"entropy", extras.entropy, {batch, 4, tq}, extra}};
  }
};

/// Cross-attention in which no two sizes are the same.
struct Cross : Layer {
  Cross() : Layer(config(), {.batch = 2, .tq = 6, .tk = 9}) { gather(); }
  static MultiHeadAttentionConfig config() {
    MultiHeadAttentionConfig c = kGrouped;
    c.d_context = 7;
    return c;
  }
};

/// Six causal tokens after two in a cache.
struct Cached : Layer {
  Cached() : Layer(kGrouped, {.batch = 2, .tq = 6}) {
    extras = {};
    options.causal = true;
    hold(2, 2, 5);
    gather();
  }
};

/// Four tokens turned by their positions.
struct Rotary : Layer {
  Rotary() : Layer({.d_model = 12, .num_heads = 3}, {.tq = 4}) {
    extras = {};
    turn({});
    hold(3, 0, 4);
    gather();
  }
  void turn(const RotaryOptions& rotary) {
    problem.config.rotary = rotary;
    problem.create(problem.weights());
  }
};

struct Block : Forward<BlockProblem, TransformerBlock::ForwardArgs> {
  Block(const TransformerBlockConfig& config, const LayerShape& shape)
      : Forward("TransformerBlock::forward", config, shape) {}
  std::vector<Array> arrays() override {
    return {{"x", x, {kAny, kAny, 12}, {.dense = true}},
            {"context", context, {2, kAny, 7}, {.dense = true, .missing = true}},
            {"context_key_lengths", context_key_lengths, {2}, {.optional = true}},
            {"y", y, {2, 6, 12}, {.written = true, .dense = true, .in_place = "x"}},
            {"lse", extras.lse, {2, 4, 6}, {.written = true, .optional = true}}};
  }
};

struct Decoder : Block {
  Decoder() : Block(decoder(), {.batch = 2, .tq = 6, .tk = 9}) {
    context_key_lengths = {kZeros, {2}};
    hold(2, 0, 5);
    gather();
  }
};

struct Encoder : Block {
  Encoder() : Block(encoder(), {.batch = 2, .tq = 6}) { gather(); }
};

struct CachedBlock : Block {
  CachedBlock() : Block({.attention = kGrouped, .d_feed_forward = 8}, {.batch = 2, .tq = 6}) {
    options.causal = true;
    hold(2, 2, 5);
    gather();
  }
};

TEST_CASE("MultiHeadAttention::forward: the call that the cases below spoil is correct",
          "[layer][bad-input]") {
  Cross().problem.check();
}

TEST_CASE("MultiHeadAttention::forward: arrays that do not fit are refused", "[layer][bad-input]") {
  require_arrays_checked(correct<Cross>);
  require_refused<Cross>({
      {[](auto& c) { c.context = {}; }, kShapeError, "context is absent and d_context is 7",
       "[2,*,7]"},
  });
}

TEST_CASE("MultiHeadAttention::forward: outputs in the memory of what is read are refused",
          "[layer][bad-input]") {
  require_sharing_refused(correct<Cross>);
}

TEST_CASE("MultiHeadAttention::forward: options are checked in its own name",
          "[layer][bad-input]") {
  static constexpr std::uint8_t kMask[36] = {};
  static constexpr float kBias[18] = {};
  require_refused<Cross>({
      {[](auto& c) { c.options.scale = NAN; }, kInvalid, "scale is NaN", "a finite number"},
      {[](auto& c) { c.options.temperature = 0.0F; }, kInvalid, "temperature is 0",
       "a number of at least 1.18e-38"},
      {[](auto& c) { c.options.causal = true; }, kInvalid, "causal with 6 queries and 9 keys",
       "a causal_offset (0 aligns the first query with "
       "the first key, 3 the last with the last)"},
      {[](auto& c) { c.options.causal_offset = 0; }, kInvalid, "causal_offset is 0 without causal",
       "causal = true, a window or alibi_slopes too"},
      {[](auto& c) { c.options.mask = {kMask, {6, 6}}; }, kShapeError, "mask is [6,6]",
       "a shape that broadcasts to [2,4,6,9]"},
      {[](auto& c) { c.options.bias = {kBias, {2, 1, 9}}; }, kShapeError, "bias is [2,1,9]",
       "a shape that broadcasts to [2,4,6,9]"},
      {[](auto& c) { c.extras.row_end = 7; }, kRange, "rows are [0, 7)", "a range within [0, 6)"},
  });
}

/// For 4 heads over 6 queries and 8 keys, two of which are in a cache.
template <class C>
void require_options_checked() {
  static const std::vector<float> floats(36, std::numeric_limits<float>::quiet_NaN());
  static constexpr std::int32_t kLengths[] = {3, 9};
  require_refused<C>({
      {[](auto& c) { c.options.softcap = -1.0F; }, kRange, "softcap is -1", "at least 0 (none)"},
      {[](auto& c) { c.options.window_left = -2; }, kRange, "window_left is -2",
       "at least -1 (unbounded)"},
      {[](auto& c) { c.options.window_right = -3; }, kRange, "window_right is -3",
       "at least -1 (unbounded)"},
      {[](auto& c) { c.options.dropout.rate = 1.0F; }, kRange, "dropout.rate is 1", "[0, 1)"},
      {[](auto& c) { c.options.key_lengths = {kLengths, {2}}; }, kRange, "key_lengths[1] is 9",
       "0 to 8"},
      {[](auto& c) { c.options.causal_offsets = {kLengths, {1}}; }, kShapeError,
       "causal_offsets is [1]", "[2]"},
      {[](auto& c) { c.options.sinks = {floats.data(), {4}}; }, kInvalid, "sinks[0] is NaN",
       "a finite number"},
      {[](auto& c) { c.options.alibi_slopes = {floats.data(), {2}}; }, kShapeError,
       "alibi_slopes is [2]", "[4]"},
      {[](auto& c) { c.options.additive_mask = {floats.data(), {6, 6}}; }, kShapeError,
       "additive_mask is [6,6]", "a shape that broadcasts to [2,4,6,8]"},
      {[](auto& c) { c.hold(4, 2, 3); }, kShapeError,
       "the cache holds keys [2,4,*,3] and values [2,4,*,3]", "[2,2,*,3] and [2,2,*,5]"},
      {[](auto& c) { c.held = {}; }, kInvalid, "the cache is empty", "one made by create()"},
  });
}

TEST_CASE("MultiHeadAttention::forward: all options are checked, and a cache stays as it was",
          "[layer][bad-input]") {
  require_options_checked<Cached>();
}

TEST_CASE("MultiHeadAttention::forward: positions that the tokens do not have are refused",
          "[layer][rotary][bad-input]") {
  require_refused<Rotary>({
      {[](auto& c) { c.turn({.positions = {kZeros, {5}}}); }, kShapeError,
       "rotary.positions is [5]", "[4]"},
      {[](auto& c) { c.turn({.positions = {kZeros, {2, 4}}}); }, kShapeError,
       "rotary.positions is [2,4]", "[1,4]"},
      {[](auto& c) { c.turn({.offset = kMaxPosition - 2}); }, kRange,
       "rotary.offset + tokens - 1 is 1048577", "-1048576 to 1048576"},
      {[](auto& c) {
         c.turn({.offset = kMaxPosition - 4});
         c.hold(3, 2, 4);
       },
       kRange, "rotary.offset + tokens - 1 is 1048577", "-1048576 to 1048576"},
  });
}

TEST_CASE("TransformerBlock::forward: arrays that do not fit are refused", "[block][bad-input]") {
  require_arrays_checked(correct<Decoder>);
  require_sharing_refused(correct<Decoder>);
}

TEST_CASE("TransformerBlock::forward: options that mean nothing are refused",
          "[block][bad-input]") {
  static constexpr std::int32_t kLengths[] = {3, 10};
  static constexpr std::uint8_t kMask[54] = {};
  require_options_checked<CachedBlock>();
  require_refused<Decoder>({
      {[](auto& c) { c.context_key_lengths = {kLengths, {2}}; }, kRange,
       "context_key_lengths[1] is 10", "0 to 9"},
      {[](auto& c) { c.options.scale = INFINITY; }, kInvalid, "scale is Infinity",
       "a finite number"},
      {[](auto& c) { c.options.mask = {kMask, {6, 9}}; }, kShapeError, "mask is [6,9]",
       "a shape that broadcasts to [2,4,6,6]"},
      {[](auto& c) { c.extras.row_end = 7; }, kRange, "rows are [0, 7)", "a range within [0, 6)"},
  });
  require_refused<Encoder>({
      {[](auto& c) { c.context = c.x; }, kInvalid, "context is given",
       "none: the block has no cross-attention"},
      {[](auto& c) { c.context_key_lengths = {kLengths, {2}}; }, kInvalid,
       "context_key_lengths is given", "none: the block has no cross-attention"},
  });
}

}  // namespace
}  // namespace qkv::test::bad_input_forward_test
