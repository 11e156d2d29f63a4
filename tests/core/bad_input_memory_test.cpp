// Operators beside attention and layers: arrays of wrong shapes, without data and with strides that do not fit, outputs with two
// elements in one place or in the memory of what is read; and values that are none of their enumeration.
#include <catch2/catch_test_macros.hpp>

#include <memory>
#include <string>
#include <vector>

#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_memory_test {
namespace {

using View = TensorView<float>;

struct Part {
  const char* name;
  std::vector<Index> shape;
  Demands demands = {};
  std::vector<Index> expected = {};  ///< where messages say `*` for an extent
};
constexpr Demands kOut{.written = true};
constexpr Demands kOptionalOut{.written = true, .optional = true};
constexpr Demands kDense{.dense = true};
constexpr Demands kAnyRank{.dense = true, .any_rank = true};
constexpr Demands kParameter{.dense = true, .optional = true};
constexpr Demands kDenseOut{.written = true, .dense = true};
constexpr Demands kInPlace{.written = true, .dense = true, .in_place = "x"};

struct OperatorCall;

struct Operator {
  const char* name;
  std::vector<Part> parts;
  Status (*run)(OperatorCall& call);
  bool scratch_first = false;
  const char* layout = "";  ///< the argument, and the type of its values
  const char* type = "";
};

/// Inputs of zeros, outputs untouched.
struct OperatorCall : Call {
  explicit OperatorCall(const Operator& operation) : Call(operation.name), op(operation) {
    scratch_first = op.scratch_first;
    for (const Part& part : op.parts) {
      const auto size = static_cast<std::size_t>(view_of<float>(nullptr, part.shape).size());
      numbers.emplace_back(size, part.demands.written ? kUntouched : 0.0F);
      v.push_back(view_of(numbers.back().data(), part.shape));
    }
    gather();
  }
  Status run() override { return op.run(*this); }
  std::size_t memory() override { return allocated_bytes(); }
  std::vector<Array> arrays() override {
    std::vector<Array> all;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const Part& part = op.parts[i];
      all.push_back(
          {part.name, v[i], part.expected.empty() ? part.shape : part.expected, part.demands});
    }
    return all;
  }

  const Operator& op;
  std::vector<std::vector<float>> numbers;
  std::vector<View> v;
  int layout = 0;
};

/// Zeros as ids or positions.
TensorView<const std::int32_t> integers(const View& view) {
  TensorView<const std::int32_t> all;
  all.data = reinterpret_cast<const std::int32_t*>(view.data);
  all.rank = view.rank;
  all.shape = view.shape;
  all.strides = view.strides;
  return all;
}

/// A layer of 4 features, all of whose weights are zeros.
Status create(FeedForward& layer, int layout) {
  static const std::vector<float> zeros(16, 0.0F);
  const FeedForwardWeights weights{.w1 = {zeros.data(), {4, 4}}, .w2 = {zeros.data(), {4, 4}}};
  return FeedForward::create(
      {.d_model = 4, .d_feed_forward = 4, .weight_layout = static_cast<WeightLayout>(layout)},
      weights, layer);
}

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all{
      {"layer_norm",
       {{"x", {6, 8}, kAnyRank},
        {"gamma", {8}, kParameter},
        {"beta", {8}, kParameter},
        {"out", {6, 8}, kInPlace}},
       [](auto& c) { return layer_norm(c.v[0], c.v[3], {.gamma = c.v[1], .beta = c.v[2]}); }},
      {"rms_norm",
       {{"x", {6, 8}, kAnyRank}, {"gamma", {8}, kParameter}, {"out", {6, 8}, kInPlace}},
       [](auto& c) { return rms_norm(c.v[0], c.v[2], {.gamma = c.v[1], .beta = {}}); }},
      {"activate",
       {{"x", {6, 8}, kAnyRank}, {"out", {6, 8}, kInPlace}},
       [](auto& c) { return activate(c.v[0], c.v[1], Activation::kGelu); }},
      {"softmax",
       {{"x", {6, 8}, kAnyRank}, {"out", {6, 8}, kInPlace}},
       [](auto& c) { return softmax(c.v[0], c.v[1], {}); }},
      {"embedding",
       {{"table", {6, 8}, kDense, {kAny, kAny}},
        {"ids", {2}, kDense, {kAny}},
        {"out", {2, 8}, kDenseOut}},
       [](auto& c) { return embedding(c.v[0], integers(c.v[1]), c.v[2]); }},
      {"learned_encoding",
       {{"table", {6, 8}, kDense, {kAny, kAny}}, {"out", {2, 8}, kDenseOut, {kAny, 8}}},
       [](auto& c) { return learned_encoding(c.v[0], c.v[1], 0, OutOfRange::kError); }},
      {"t5_relative_bias",
       {{"table", {6, 8}, {}, {kAny, kAny}}, {"bias", {8, 2, 2}, kOut, {8, kAny, kAny}}},
       [](auto& c) { return t5_relative_bias(c.v[0], c.v[1], {}); }},
      {"transformer_xl_bias",
       {{"q", {1, 2, 3, 4}, {}, {kAny, kAny, kAny, kAny}},
        {"r", {5, 8}},
        {"v", {2, 4}},
        {"bias", {1, 2, 3, 3}, kOut, {1, 2, 3, kAny}}},
       [](auto& c) { return transformer_xl_bias(c.v[0], c.v[1], c.v[2], c.v[3]); }},
      {"row_entropy",
       {{"weights", {2, 3, 8}, {.any_rank = true}}, {"out", {2, 3}, kOut}},
       [](auto& c) { return row_entropy(c.v[0], c.v[1]); }},
      {"head_statistics",
       {{"weights", {2, 2, 3, 4}, {}, {kAny, kAny, kAny, kAny}},
        {"entropy", {2, 2}, kOptionalOut},
        {"distance", {2, 2}, kOptionalOut},
        {"max_weight", {2, 2}, kOptionalOut},
        {"first_key", {2, 2}, kOptionalOut}},
       [](auto& c) { return head_statistics(c.v[0], {c.v[1], c.v[2], c.v[3], c.v[4]}); }},
      {"attention_rollout",
       {{"weights", {1, 2, 4, 4}, {}, {kAny, kAny, kAny, kAny}}, {"out", {4, 4}, kOut}},
       [](auto& c) { return attention_rollout(c.v[0], c.v[1], c.workspace); },
       true},
      {"FeedForward::forward",
       {{"x", {2, 3, 4}, kDense, {kAny, kAny, 4}}, {"y", {2, 3, 4}, kInPlace}},
       [](auto& c) {
         FeedForward layer;
         QKV_RETURN_IF_ERROR(create(layer, 0));
         const Status status = layer.forward({c.v[0], c.v[1]}, c.workspace);
         CHECK((status.ok() || layer.forward_scratch_bytes({c.v[0], c.v[1]}) == 0));
         return status;
       }},
      {"alibi_slopes",
       {{"slopes", {6}, kOut, {kAny}}},
       [](auto& c) { return alibi_slopes(c.v[0]); }},
  };
  return all;
}

const std::vector<Operator>& operators_with_layout() {
  static const auto options = [](OperatorCall& c) {
    return SinusoidOptions{.layout = static_cast<SinusoidLayout>(c.layout)};
  };
  static const std::vector<Operator> all{
      {"sinusoidal_encoding",
       {{"table", {3, 4}, kDenseOut, {kAny, kAny}}},
       [](auto& c) { return sinusoidal_encoding(c.v[0], 0, options(c)); },
       false,
       "layout",
       "SinusoidLayout"},
      {"sinusoidal_shift_blocks",
       {{"blocks", {2, 2, 2}, kDenseOut}},
       [](auto& c) { return sinusoidal_shift_blocks(c.v[0], 1, 4, options(c)); },
       false,
       "layout",
       "SinusoidLayout"},
      {"sinusoidal_shift_matrix",
       {{"matrix", {4, 4}, kDenseOut, {kAny, kAny}}},
       [](auto& c) { return sinusoidal_shift_matrix(c.v[0], 1, options(c)); },
       false,
       "layout",
       "SinusoidLayout"},
      {"FeedForward::create",
       {{"x", {2, 3, 4}, kDense, {kAny, kAny, 4}}, {"y", {2, 3, 4}, kDenseOut}},
       [](auto& c) {
         FeedForward layer;
         const Status created = create(layer, c.layout);
         return created.ok() ? layer.forward({c.v[0], c.v[1]}, c.workspace) : created;
       },
       false,
       "weight_layout",
       "WeightLayout"},
  };
  return all;
}

/// Those of which bad_input_rotary_test.cpp asks about shapes, as one of their arrays may have several.
const std::vector<Operator>& rotary_operators() {
  static const std::vector<Operator> all{
      {"rotary_embedding",
       {{"x", {1, 2, 3, 4}},
        {"positions", {3}},
        {"cos", {3, 2}},
        {"sin", {3, 2}},
        {"out", {1, 2, 3, 4}, {.written = true, .in_place = "x"}}},
       [](auto& c) {
         RotaryOptions options;
         options.positions = integers(c.v[1]);
         options.cos = c.v[2];
         options.sin = c.v[3];
         return rotary_embedding(c.v[0], c.v[4], options, c.workspace);
       },
       true},
      {"rotary_table",
       {{"positions", {3}}, {"cos", {3, 2}, kDenseOut}, {"sin", {3, 2}, kDenseOut}},
       [](auto& c) {
         RotaryOptions options;
         options.positions = integers(c.v[0]);
         return rotary_table(c.v[1], c.v[2], options);
       }},
  };
  return all;
}

TEST_CASE("operators: arrays that do not fit are refused", "[bad-input]") {
  for (const Operator& op : operators()) {
    require_arrays_checked([&] { return std::make_unique<OperatorCall>(op); });
  }
  for (const Operator& op : operators_with_layout()) {
    const auto make = [&] { return std::make_unique<OperatorCall>(op); };
    if (std::string(op.name) == "sinusoidal_shift_matrix") {  // whose rows say how many columns
      require_data_checked(make);
      require_strides_checked(make);
    } else if (std::string(op.name) != "FeedForward::create") {
      require_arrays_checked(make);
    }
  }
}

TEST_CASE("operators: outputs in the memory of what is read, or over themselves, are refused",
          "[bad-input]") {
  for (const Operator& op : rotary_operators()) {
    require_overlaps_refused([&] { return std::make_unique<OperatorCall>(op); });
  }
  for (const auto* all : {&operators(), &rotary_operators()}) {
    for (const Operator& op : *all) {
      require_sharing_refused([&] { return std::make_unique<OperatorCall>(op); });
    }
  }
}

TEST_CASE("embedding: ids without elements share no memory", "[bad-input]") {
  std::vector<float> memory(200, 42.0F);
  const TensorView<const std::int32_t> inside(
      reinterpret_cast<const std::int32_t*>(memory.data() + 101), {0});
  require_ok(embedding(View(memory.data(), {6, 8}), inside, {memory.data() + 100, {0, 8}}));
}

TEST_CASE("operators: a layout that is none is refused", "[bad-input]") {
  for (const Operator& op : operators_with_layout()) {
    for (const int layout : {2, 7}) {
      require_refused(
          [&] { return std::make_unique<OperatorCall>(op); },
          {op.layout, [=](Call& c) { static_cast<OperatorCall&>(c).layout = layout; }, kInvalid,
           op.layout + (" is " + std::to_string(layout)) + ", expected a value of " + op.type});
    }
  }
}

}  // namespace
}  // namespace qkv::test::bad_input_memory_test
