// What every function from x to out of the same shape refuses of the two.
#pragma once

#include <catch2/catch_test_macros.hpp>

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
    const char* what;
    void (*spoil)(X&, Out&);
    Refusal refusal;
  } cases[] = {
      {"x absent", [](X& x, Out&) { x = {}; }, {kShapeError, "x has rank", "0", "1 to 4"}},
      {"x of rank 5", [](X& x, Out&) { x.rank = 5; }, {kShapeError, "x has rank", "5", "1 to 4"}},
      {"x null",
       [](X& x, Out&) { x.data = nullptr; },
       {kInvalid, "x has no data", "[3,5]", "elements"}},
      {"x negative",
       [](X& x, Out&) { x.shape[0] = -3; },
       {kShapeError, "x is", "[-3,5]", "expected"}},
      {"x strided",
       [](X& x, Out&) { x.strides[1] = 2; },
       {kInvalid, "the last axis of x", "stride 2", "expected 1"}},
      {"x with gaps",
       [](X& x, Out&) { x.strides[0] = 6; },
       {kInvalid, "axis 0 of x", "stride 6", "expected 5"}},
      {"out absent", [](X&, Out& out) { out = {}; }, {kShapeError, "out is", "[]", "[3,5]"}},
      {"out null",
       [](X&, Out& out) { out.data = nullptr; },
       {kInvalid, "out has no data", "[3,5]", "elements"}},
      {"out of another shape",
       [](X&, Out& out) { out.shape[1] = 4; },
       {kShapeError, "out is", "[3,4]", "[3,5]"}},
      {"out of another rank",
       [](X&, Out& out) { out = {out.data, {15}}; },
       {kShapeError, "out is", "[15]", "[3,5]"}},
      {"out with gaps",
       [](X&, Out& out) { out.strides[0] = 6; },
       {kInvalid, "axis 0 of out", "stride 6", "expected 5"}},
  };
  for (const auto& c : cases) {
    INFO(c.what);
    const std::vector<float> values(15, 1.0F);
    std::vector<float> written(18, kUntouched);
    X x{values.data(), {3, 5}};
    Out out{written.data(), {3, 5}};
    c.spoil(x, out);
    require_refused(call(x, out), function, c.refusal);
    CHECK(written == std::vector<float>(18, kUntouched));
  }
}

}  // namespace qkv::test
