// Choices that have no meaning.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "refusal.hpp"
#include "sampling_problem.hpp"

namespace qkv::test::bad_input_sampling_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("sample: what has no meaning is refused, and no token is written",
          "[sampling][bad-input]") {
  struct Wrong {
    Spoil<Choice&, SamplingArgs&> spoil;
    Refusal refusal;
  };
  const Wrong rows[] = {
      {[](auto&, auto& a) { a.logits.data = nullptr; }, {kInvalid, "logits", "has no data", "[9]"}},
      {[](auto&, auto& a) { a.logits = {}; }, {kShapeError, "logits", "", ""}},
      {[](auto&, auto& a) { a.logits = {a.logits.data, {1, 9}}; },
       {kShapeError, "logits", "is [1,9]", "[*]"}},
      {[](auto&, auto& a) { a.logits.shape[0] = 0; },
       {kShapeError, "logits", "is [0]", "at least"}},
      {[](auto&, auto& a) { a.logits.strides[0] = 2; }, {kInvalid, "logits", "stride", ""}},
      {[](auto& c, auto&) { c.logits[4] = INFINITY; }, {kInvalid, "logits[4]", "is Infinity", ""}},
      {[](auto& c, auto&) { std::fill(c.logits.begin(), c.logits.end(), -INFINITY); },
       {kRange, "logits", "no finite element", "at least one"}},
      {[](auto& c, auto&) { std::fill(c.logits.begin(), c.logits.end(), kNan); },
       {kRange, "logits", "no finite element", "at least one"}},
      {[](auto&, auto& a) { a.seen = {a.seen.data, {2, 1}}; },
       {kShapeError, "seen", "is [2,1]", "[*]"}},
      {[](auto&, auto& a) { a.seen.data = nullptr; }, {kInvalid, "seen", "has no data", "[2]"}},
      {[](auto& c, auto&) { c.seen[1] = 9; }, {kRange, "seen[1]", "is 9", "[0, 9)"}},
      {[](auto& c, auto&) { c.seen[0] = -1; }, {kRange, "seen[0]", "is -1", "[0, 9)"}},
      {[](auto&, auto& a) { a.bias_ids = {a.bias_ids.data, {2, 1}}; },
       {kShapeError, "bias_ids", "is [2,1]", "[*]"}},
      {[](auto&, auto& a) { a.bias_ids = {}; }, {kShapeError, "bias_ids", "", "[*]"}},
      {[](auto&, auto& a) { a.bias_ids.data = nullptr; },
       {kInvalid, "bias_ids", "has no data", "[2]"}},
      {[](auto& c, auto&) { c.bias_ids[1] = 9; }, {kRange, "bias_ids[1]", "is 9", "[0, 9)"}},
      {[](auto& c, auto&) { c.bias_ids[0] = -1; }, {kRange, "bias_ids[0]", "is -1", "[0, 9)"}},
      {[](auto&, auto& a) { a.biases.shape[0] = 1; }, {kShapeError, "biases", "is [1]", "[2]"}},
      {[](auto&, auto& a) { a.biases = {}; }, {kShapeError, "biases", "", "[2]"}},
      {[](auto&, auto& a) { a.biases.data = nullptr; }, {kInvalid, "biases", "has no data", "[2]"}},
      {[](auto& c, auto&) { c.biases[1] = kNan; }, {kInvalid, "biases[1]", "is NaN", "-Infinity"}},
      {[](auto& c, auto&) { c.biases[0] = INFINITY; },
       {kInvalid, "biases[0]", "is Infinity", "-Infinity"}},
      {[](auto&, auto& a) { a.allowed.shape[0] = 2; }, {kShapeError, "allowed", "is [2]", "[1]"}},
      {[](auto&, auto& a) { a.allowed.data = nullptr; },
       {kInvalid, "allowed", "has no data", "[1]"}},
      {[](auto& c, auto&) { c.allowed[0] = 0; },
       {kRange, "allowed", "leave no token", "at least one"}},
      {[](auto& c, auto&) { c.allowed[0] = ~0x1FF; },
       {kRange, "allowed", "leave no token", "at least one"}},
      {[](auto& c, auto&) {
         c.allowed[0] = 8;
         c.bias_ids[1] = 3;
       },
       {kRange, "biases", "leave no token", "at least one"}},
      {[](auto&, auto& a) { a.top_ids.data = nullptr; },
       {kInvalid, "top_ids", "has no data", "[3]"}},
      {[](auto&, auto& a) { a.top_ids = {a.top_ids.data, {3, 1}}; },
       {kShapeError, "top_ids", "is [3,1]", "[*]"}},
      {[](auto&, auto& a) { a.top_ids = {}; }, {kShapeError, "top_ids", "", "[*]"}},
      {[](auto&, auto& a) { a.top_log_probabilities = {}; },
       {kShapeError, "top_log_probabilities", "", "[3]"}},
      {[](auto&, auto& a) { a.top_log_probabilities.data = nullptr; },
       {kInvalid, "top_log_probabilities", "has no data", "[3]"}},
      {[](auto&, auto& a) {
         a.top_ids.shape[0] = 10;
         a.top_log_probabilities.shape[0] = 10;
       },
       {kRange, "top_ids", "is [10]", "at most 9"}},
      {[](auto&, auto& a) { a.top_log_probabilities.data = const_cast<float*>(a.logits.data); },
       {kInvalid, "top_log_probabilities", "overlaps", "logits"}},
      {[](auto&, auto& a) {
         a.top_ids.data = reinterpret_cast<std::int32_t*>(a.top_log_probabilities.data);
       },
       {kInvalid, "top_log_probabilities", "overlaps", "top_ids"}},
      {[](auto&, auto& a) { a.options.temperature = -1.0F; }, {kRange, "temperature", "is -1", ""}},
      {[](auto&, auto& a) { a.options.temperature = kNan; },
       {kInvalid, "temperature", "is NaN", "finite"}},
      {[](auto&, auto& a) { a.options.temperature = INFINITY; },
       {kInvalid, "temperature", "is Infinity", "finite"}},
      {[](auto&, auto& a) { a.options.top_k = -1; }, {kRange, "top_k", "is -1", "at least 0"}},
      {[](auto&, auto& a) { a.options.top_p = 0.0F; }, {kRange, "top_p", "is 0", "above 0"}},
      {[](auto&, auto& a) { a.options.top_p = 1.5F; }, {kRange, "top_p", "is 1.5", "1"}},
      {[](auto&, auto& a) { a.options.top_p = kNan; }, {kInvalid, "top_p", "is NaN", "finite"}},
      {[](auto&, auto& a) { a.options.frequency_penalty = kNan; },
       {kInvalid, "frequency_penalty", "is NaN", "finite"}},
      {[](auto&, auto& a) { a.options.presence_penalty = INFINITY; },
       {kInvalid, "presence_penalty", "is Infinity", "finite"}},
      {[](auto&, auto& a) { a.options.min_p = -0.5F; }, {kRange, "min_p", "is -0.5", "0 to 1"}},
      {[](auto&, auto& a) { a.options.min_p = 1.5F; }, {kRange, "min_p", "is 1.5", "0 to 1"}},
      {[](auto&, auto& a) { a.options.min_p = -INFINITY; },
       {kInvalid, "min_p", "is -Infinity", "finite"}},
      {[](auto&, auto& a) { a.options.repetition_penalty = 0.0F; },
       {kRange, "repetition_penalty", "is 0", "above 0"}},
      {[](auto&, auto& a) { a.options.repetition_penalty = -2.0F; },
       {kRange, "repetition_penalty", "is -2", "above 0"}},
      {[](auto&, auto& a) { a.options.repetition_penalty = INFINITY; },
       {kInvalid, "repetition_penalty", "is Infinity", "finite"}},
  };
  int n = 0;
  for (const Wrong& row : rows) {
    CAPTURE(n++);
    Choice choice{
        random_logits(9, 1), {.temperature = 1.0F}, {1, 2}, {4, 5}, {0.5F, -INFINITY}, {-1}};
    std::int32_t ids[10] = {7, 7, 7};
    float top[10] = {8, 8, 8};
    SamplingArgs args = choice.args();
    args.top_ids = {ids, {3}};
    args.top_log_probabilities = {top, {3}};
    row.spoil(choice, args);
    Workspace workspace;
    SampledToken token{.id = 77, .log_probability = 5.0F};
    require_refused(sample(args, workspace, token), "sample", row.refusal);
    CHECK(token.id == 77);
    CHECK(token.log_probability == 5.0F);
    CHECK(std::count(ids, ids + 3, 7) == 3);
    CHECK(std::count(top, top + 3, 8.0F) == 3);
  }
}

}  // namespace
}  // namespace qkv::test::bad_input_sampling_test
