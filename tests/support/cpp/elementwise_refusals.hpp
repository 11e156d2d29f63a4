// What every function from x to out of the same shape refuses of the two.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test {

/// Spoils x or out of shape [3,5] in every way and asserts that `call(x, out)`, which is called
/// `function`, says so and writes nothing.
template <class Call>
void require_elementwise_refused(const char* function, Call call) {
  using X = TensorView<const float>;
  using Out = TensorView<float>;
  const struct {
    void (*spoil)(X&, Out&);
    StatusCode code;
    const char* message;
  } cases[] = {
      {[](X& x, Out&) { x = {}; }, kShapeError, "x has rank 0, expected 1 to 4"},
      {[](X& x, Out&) { x.rank = 5; }, kShapeError, "x has rank 5, expected 1 to 4"},
      {[](X& x, Out&) { x.data = nullptr; }, kInvalid, "x has no data, expected [3,5] elements"},
      {[](X& x, Out&) { x.shape[0] = -3; }, kShapeError,
       "x is [-3,5], expected extents of at least 0"},
      {[](X& x, Out&) { x.strides[1] = 2; }, kInvalid,
       "the last axis of x has stride 2, expected 1"},
      {[](X& x, Out&) { x.strides[0] = 6; }, kInvalid,
       "axis 0 of x has stride 6, expected 5 (contiguous)"},
      {[](X&, Out& out) { out = {}; }, kShapeError, "out is [], expected [3,5]"},
      {[](X&, Out& out) { out.data = nullptr; }, kInvalid,
       "out has no data, expected [3,5] elements"},
      {[](X&, Out& out) { out.shape[1] = 4; }, kShapeError, "out is [3,4], expected [3,5]"},
      {[](X&, Out& out) { out = {out.data, {15}}; }, kShapeError, "out is [15], expected [3,5]"},
      {[](X&, Out& out) { out.strides[0] = 6; }, kInvalid,
       "axis 0 of out has stride 6, expected 5 (contiguous)"},
  };
  for (const auto& c : cases) {
    const std::string message = std::string(function) + ": " + c.message;
    INFO("expects " << status_code_name(c.code) << ", \"" << message << '"');
    const std::vector<float> values(15, 1.0F);
    std::vector<float> written(18, kUntouched);
    X x{values.data(), {3, 5}};
    Out out{written.data(), {3, 5}};
    require_ok(call(x, out));
    CHECK(written != std::vector<float>(18, kUntouched));
    written.assign(18, kUntouched);
    c.spoil(x, out);
    const Status status = call(x, out);
    CHECK(std::string(status_code_name(status.code())) == status_code_name(c.code));
    CHECK(std::string(status.message()) == message);
    CHECK(written == std::vector<float>(18, kUntouched));
  }
}

}  // namespace qkv::test
