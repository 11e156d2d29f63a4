// Messages: names as a binding calls them, dotted paths, detail(), and numbers.
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "qkv/qkv.hpp"
#include "random.hpp"

namespace qkv::test::message_test {
namespace {

constexpr float kNumbers[64] = {};

/// Names as another language may have them; those that it shares with the core stay.
const char* other_name(const char* name) noexcept {
  const struct {
    const char* core;
    const char* other;
  } table[] = {{"num_heads", "numHeads"},
               {"num_kv_heads", "numKvHeads"},
               {"d_model", "dModel"},
               {"attention", "selfAttention"},
               {"wq", "queries"},
               {"rotary", "turn"},
               {"offset", "start"},
               {"rate", "probability"},
               {"key_lengths", "keyLengths"},
               {"causal_offset", "causalOffset"},
               {"alibi_slopes", "bias.slopes"},
               {"scaling", "stretch"},
               {"beta_slow", "betaSlow"},
               {"beta_fast", "betaFast"},
               {"table", "rows"},
               {"out", "result"}};
  for (const auto& [core, other] : table) {
    if (std::strcmp(core, name) == 0) {
      return other;
    }
  }
  return name;
}

/// Names pass through other_name() as long as this lives.
struct OtherNames {
  OtherNames() { set_argument_names(&other_name); }
  ~OtherNames() { set_argument_names(nullptr); }
  OtherNames(const OtherNames&) = delete;
  OtherNames& operator=(const OtherNames&) = delete;
};

/// message() of a call that must be refused; `detail` gets detail().
struct Said {
  std::string message, detail;
  explicit Said(const Status& status) : message(status.message()), detail(status.detail()) {}
};

Status create_layer(const MultiHeadAttentionConfig& config) {
  MultiHeadAttention layer;
  return MultiHeadAttention::create(config, {}, layer);
}

Status create_block(const MultiHeadAttentionConfig& attention) {
  TransformerBlock block;
  return TransformerBlock::create({.attention = attention, .d_feed_forward = 8}, {}, block);
}

Status attend(const AttentionOptions& options) {
  Workspace workspace;
  float out[16];
  return attention({.q = {kNumbers, {1, 1, 4, 4}},
                    .k = {kNumbers, {1, 1, 4, 4}},
                    .v = {kNumbers, {1, 1, 4, 4}},
                    .out = {out, {1, 1, 4, 4}},
                    .options = options},
                   workspace);
}

/// A refusal that prints any number below 1.
std::string text_of(double number) {
  float table[4];
  const Status status = sinusoidal_encoding({table, {1, 4}}, 0, {.base = number});
  const std::string detail = status.detail();
  const std::string before = "base is ";
  REQUIRE(detail.starts_with(before));
  return detail.substr(before.size(), detail.find(',') - before.size());
}

TEST_CASE("message: detail() is what follows the function", "[status][any-isa]") {
  const Said said(create_layer({.d_model = 0, .num_heads = 4}));
  CHECK(said.message == "MultiHeadAttention::create: d_model is 0, expected at least 1");
  CHECK(said.detail == "d_model is 0, expected at least 1");
}

TEST_CASE("message: detail() is all of a message that names no function", "[status][any-isa]") {
  KvCache cache;
  const Status status = KvCache::create(
      {.batch = 1, .num_kv_heads = 1, .capacity = std::numeric_limits<Index>::max(), .d_k = 4},
      cache);
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(std::string(status.detail()) == status.message());
  CHECK(std::string(status.detail()).starts_with("out of memory: a cache of "));
  CHECK(std::string(Status{}.detail()).empty());
  CHECK(std::string(Status::error(StatusCode::kOutOfRange, "a: b").detail()) == "a: b");
}

TEST_CASE("message: parts of a layer have dotted names", "[status][any-isa]") {
  const MultiHeadAttentionConfig layer{.d_model = 8, .num_heads = 2};
  MultiHeadAttentionConfig turned = layer;
  turned.rotary = RotaryOptions{.base = 0.5};
  CHECK(Said(create_layer(turned)).detail ==
        "rotary.base is 0.5, expected a finite number of at least 1");
  CHECK(Said(create_block(turned)).message ==
        "TransformerBlock::create: rotary.base is 0.5, expected a finite number of at least 1");
  CHECK(Said(create_block(layer)).message ==
        "TransformerBlock::create: attention.wq is missing, expected [8,8]");
}

TEST_CASE("set_argument_names: every name of a message, one segment at a time",
          "[status][any-isa]") {
  const OtherNames names;
  const MultiHeadAttentionConfig layer{.d_model = 8, .num_heads = 2};
  CHECK(Said(create_layer({.d_model = 8, .num_heads = 4, .num_kv_heads = 3})).message ==
        "MultiHeadAttention::create: numKvHeads is 3, expected a divisor of numHeads = 4");
  CHECK(Said(create_layer(layer)).detail == "queries is missing, expected [8,8]");
  CHECK(Said(create_block(layer)).detail == "selfAttention.queries is missing, expected [8,8]");
  MultiHeadAttentionConfig turned = layer;
  turned.rotary = RotaryOptions{.scaling = {.type = RotaryScaling::Type::kYarn,
                                            .factor = 2.0,
                                            .original_length = 4,
                                            .beta_fast = 0.5}};
  CHECK(Said(create_layer(turned)).detail ==
        "turn.stretch.betaFast is 0.5, expected a finite number above stretch.betaSlow");
  CHECK(Said(attend({.dropout = {.rate = 1.5F}})).detail ==
        "dropout.probability is 1.5, expected [0, 1)");
}

TEST_CASE("set_argument_names: names in the middle of a sentence, and of elements",
          "[status][any-isa]") {
  const OtherNames names;
  const std::int32_t lengths[] = {5};
  const std::int32_t ids[] = {0, 4};
  float out[8];
  CHECK(Said(attend({.causal_offset = 2})).detail ==
        "causalOffset is 2 without causal, expected causal = true, a window or bias.slopes too");
  CHECK(Said(attend({.key_lengths = {lengths, {1}}})).detail ==
        "keyLengths[0] is 5, expected 0 to 4");
  CHECK(Said(embedding({kNumbers, {4, 4}}, {ids, {2}}, {out, {2, 4}})).detail ==
        "ids[1] is 4, expected [0, 4)");
  CHECK(Said(embedding({out, {2, 4}}, {ids, {2}}, {out, {2, 4}})).detail ==
        "result overlaps rows, expected separate memory");
  TensorView<const float> table{kNumbers, {2, 4}};
  table.strides[0] = -4;
  CHECK(Said(embedding(table, {ids, {2}}, {out, {2, 4}})).detail ==
        "axis 0 of rows has stride -4, expected at least 0");
}

TEST_CASE("set_argument_names: null brings the names of the core back", "[status][any-isa]") {
  {
    const OtherNames names;
  }
  CHECK(Said(create_layer({.d_model = 0, .num_heads = 4})).detail ==
        "d_model is 0, expected at least 1");
}

TEST_CASE("message: text from outside is not read as a sentence", "[status][any-isa]") {
  const Status status = select_isa("@d_model{}%s");
  CHECK(std::string(status.detail()).starts_with("name is '@d_model{}%s', expected"));
}

TEST_CASE("message: numbers that are none have the same names everywhere", "[status][any-isa]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(text_of(kNan) == "NaN");
  CHECK(text_of(-kNan) == "NaN");
  CHECK(text_of(kInfinity) == "Infinity");
  CHECK(text_of(-kInfinity) == "-Infinity");
}

TEST_CASE("message: numbers have the six digits of printf's %g", "[status][any-isa]") {
  std::vector<double> numbers = {0.0,        -0.0,      0.0001,    0.00001, -999999.4, -999999.5,
                                 -1000005.0, -123456.5, 0.9999995, -1e22,   5e-324,    1.18e-38};
  numbers.push_back(-std::numeric_limits<double>::max());
  test::Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto any = std::bit_cast<double>(random.next() | (std::uint64_t{1} << 63U));
    if (std::isfinite(any)) {
      numbers.push_back(any);
    }
    numbers.push_back(static_cast<double>(-static_cast<float>(random.below(100000)) / 1000.0F));
  }
  for (double number : numbers) {
    char expected[32];
    std::snprintf(expected, sizeof(expected), "%g", number);
    CAPTURE(number);
    REQUIRE(text_of(number) == expected);
  }
}

}  // namespace
}  // namespace qkv::test::message_test
