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
      {[](auto&, auto& a) { a.options.temperature = -1.0F; }, {kRange, "temperature", "is -1", ""}},
      {[](auto&, auto& a) { a.options.temperature = kNan; },
       {kInvalid, "temperature", "is NaN", "finite"}},
      {[](auto&, auto& a) { a.options.temperature = INFINITY; },
       {kInvalid, "temperature", "is Infinity", "finite"}},
      {[](auto&, auto& a) { a.options.top_k = -1; }, {kRange, "top_k", "is -1", "at least 0"}},
      {[](auto&, auto& a) { a.options.top_p = 0.0F; }, {kRange, "top_p", "is 0", "above 0"}},
      {[](auto&, auto& a) { a.options.top_p = 1.5F; }, {kRange, "top_p", "is 1.5", "1"}},
      {[](auto&, auto& a) { a.options.top_p = kNan; }, {kInvalid, "top_p", "is NaN", "finite"}},
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
    Choice choice{random_logits(9, 1), {.temperature = 1.0F}, {1, 2}};
    SamplingArgs args = choice.args();
    row.spoil(choice, args);
    Workspace workspace;
    SampledToken token{.id = 77, .log_probability = 5.0F};
    require_refused(sample(args, workspace, token), "sample", row.refusal);
    CHECK(token.id == 77);
    CHECK(token.log_probability == 5.0F);
  }
}

}  // namespace
}  // namespace qkv::test::bad_input_sampling_test
