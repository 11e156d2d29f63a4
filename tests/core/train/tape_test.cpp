// Tapes themselves: the memory that they plan, and gradients that add up.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "compare.hpp"
#include "problem.hpp"
#include "qkv/isa.hpp"
#include "random.hpp"
#include "train/tape/tape.hpp"

namespace qkv::test::tape_test {
namespace {

/// What one rounding to float32 changes of a number of size 1.
constexpr double kHalfUlp = 0x1p-24;

TrainKernels kernels() {
  TrainKernels found;
  require_ok(require_train_kernels("tape_test", found));
  return found;
}

TEST_CASE(
    "Tape: takes the memory of values, of gradients, and of the largest step that adds to one",
    "[train][memory]") {
  constexpr Index kWidth = 64;
  constexpr std::int32_t kId = 3;
  std::vector<float> x(kWidth);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) - 20.0F;
  }
  std::vector<float> dx(kWidth, kUntouched);
  std::vector<float> w(kWidth * kWidth, 0.5F);
  std::vector<float> dw(kWidth * kWidth, kUntouched);

  // y = x W + row kId of W. The gradient of W is written by the second step, and the first adds to it.
  train::Tape tape;
  const train::ArrayId of_x = tape.parameter(1, kWidth, x.data(), dx.data());
  const train::ArrayId of_w = tape.parameter(kWidth, kWidth, w.data(), dw.data());
  const train::ArrayId product =
      train::linear(tape, of_x, of_w, train::kNoArray, WeightLayout::kInOut);
  const train::ArrayId row = train::embed(tape, of_w, 1, 1.0F);
  const train::ArrayId y = train::add(tape, product, row);
  const std::size_t before = allocated_bytes();
  require_ok(tape.plan(y));

  constexpr std::size_t kValues = 3 * kWidth;              // product, row, y
  constexpr std::size_t kGradients = kWidth;               // of y, which the other two share
  constexpr std::size_t kScratch = kWidth * (1 + kWidth);  // both inputs of the product
  CHECK(allocated_bytes() - before == (kValues + kGradients + kScratch) * sizeof(float));

  Workspace workspace;
  train::TapeInputs inputs;
  inputs.ids = &kId;
  require_ok(tape.forward(kernels(), inputs, workspace));
  for (Index j = 0; j < kWidth; ++j) {
    tape[y].gradient[j] = static_cast<float>(j % 5);
  }
  require_ok(tape.backward(kernels(), inputs, workspace));
  for (Index i = 0; i < kWidth; ++i) {
    for (Index j = 0; j < kWidth; ++j) {
      CAPTURE(i, j);
      const float own = i == kId ? 1.0F : 0.0F;
      const auto at = static_cast<std::size_t>(i * kWidth + j);
      REQUIRE(dw[at] == (x[static_cast<std::size_t>(i)] + own) * static_cast<float>(j % 5));
    }
  }
}

TEST_CASE("Tape: attention over large logits has the gradients of its weights", "[train]") {
  // Two queries, each with two equal logits of 1.7e7: weights of 1/2.
  std::vector<float> q(2, 4097.0F);
  std::vector<float> k(2, 4097.0F);
  std::vector<float> v = {1.0F, 3.0F};
  std::vector<float> dq(2, kUntouched);
  std::vector<float> dk(2, kUntouched);
  std::vector<float> dv(2, kUntouched);
  train::Tape tape;
  const auto parameter = [&](std::vector<float>& value, std::vector<float>& gradient) {
    return tape.parameter(2, 1, value.data(), gradient.data());
  };
  const train::ArrayId of_q = parameter(q, dq);
  const train::ArrayId of_k = parameter(k, dk);
  const train::ArrayId of_v = parameter(v, dv);
  train::TapeAttention attention{.batch = 1, .heads = 1, .kv_heads = 1};
  attention.options.scale = 1.0F;
  const train::ArrayId y = train::attend(tape, of_q, of_k, of_v, attention, 0);
  require_ok(tape.plan(y));
  Workspace workspace;
  require_ok(tape.forward(kernels(), {}, workspace));
  CHECK(tape[y].value[0] == 2.0F);
  tape[y].gradient[0] = tape[y].gradient[1] = 1.0F;
  require_ok(tape.backward(kernels(), {}, workspace));
  CHECK(dv == std::vector<float>(2, 1.0F));
  // ds = 1/2 (1 - 2) and 1/2 (3 - 2): what they add to dq cancels.
  CHECK(dq == std::vector<float>(2, 0.0F));
  CHECK(dk == std::vector<float>{-4097.0F, 4097.0F});
}

/// A step that is a function of single numbers, run there and back.
struct Elementwise {
  using Maker = train::ArrayId (*)(train::Tape&, train::ArrayId);
  Elementwise(const Maker& make, std::vector<float> given, std::vector<float> d_out)
      : x(std::move(given)), dx(x.size(), kUntouched) {
    const auto count = static_cast<Index>(x.size());
    train::Tape tape;
    const train::ArrayId out = make(tape, tape.parameter(1, count, x.data(), dx.data()));
    require_ok(tape.plan(out));
    Workspace workspace;
    require_ok(tape.forward(kernels(), {}, workspace));
    y.assign(tape[out].value, tape[out].value + x.size());
    std::copy(d_out.begin(), d_out.end(), tape[out].gradient);
    require_ok(tape.backward(kernels(), {}, workspace));
  }
  std::vector<float> x, dx, y;
};

constexpr float kMost = 3.0F;
train::ArrayId cap_at_most(train::Tape& tape, train::ArrayId x) {
  return train::cap(tape, x, kMost);
}

TEST_CASE("Tape: a softcap and its slope are rounded once, however near to the limit", "[train]") {
  Random random(700);
  std::vector<float> x = random_floats(random, 4001, 30 * kMost);
  x[0] = 0.0F;
  x[1] = 1e-30F;
  const std::vector<float> d_out = random_floats(random, 4001);
  const Elementwise found(cap_at_most, x, d_out);
  Quantity values("softcap");
  Quantity slopes("softcap, slope");
  const auto c = static_cast<double>(kMost);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = static_cast<double>(x[i]) / c;
    // The slope is 1 - tanh(at)^2 = 1 / cosh(at)^2; in double precision both have some ten roundings of 2^-53 and an exponential.
    const double slope = 1 / (std::cosh(at) * std::cosh(at));
    const double dx = static_cast<double>(d_out[i]) * slope;
    values.add(static_cast<double>(found.y[i]), c * std::tanh(at),
               kHalfUlp * std::abs(c * std::tanh(at)) + 1e-14);
    slopes.add(static_cast<double>(found.dx[i]), dx, (kHalfUlp + 1e-13) * std::abs(dx) + 0x1p-126);
  }
  require_within(values);
  require_within(slopes);

  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Elementwise edge(cap_at_most, {infinity, -infinity, nan, 1e30F}, {1.0F, 1.0F, 1.0F, 1.0F});
  CHECK(edge.y[0] == kMost);
  CHECK(edge.y[1] == -kMost);
  CHECK(std::isnan(edge.y[2]));
  CHECK(edge.dx[0] == 0.0F);
  CHECK(edge.dx[1] == 0.0F);
  CHECK(std::isnan(edge.dx[2]));
  CHECK(edge.dx[3] == 0.0F);
}

TEST_CASE("Tape: a squared relu and its slope are rounded once", "[train]") {
  Random random(701);
  std::vector<float> x = random_floats(random, 1003, 6.0F);
  x[0] = 0.0F;
  x[1] = -0.0F;
  const std::vector<float> d_out = random_floats(random, 1003);
  const Elementwise found(train::square_relu, x, d_out);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float open = std::max(x[i], 0.0F);
    REQUIRE(found.y[i] == open * open);
    REQUIRE(found.dx[i] == 2.0F * open * d_out[i]);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Elementwise spoiled(train::square_relu, {nan}, {1.0F});
  CHECK(std::isnan(spoiled.y[0]));
  CHECK(std::isnan(spoiled.dx[0]));
}

}  // namespace
}  // namespace qkv::test::tape_test
