// Tapes themselves: the memory that they plan, and gradients that add up.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <vector>

#include "problem.hpp"
#include "qkv/isa.hpp"
#include "train/tape.hpp"

namespace qkv::test::tape_test {
namespace {

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
  require_ok(tape.forward(inputs, workspace));
  for (Index j = 0; j < kWidth; ++j) {
    tape[y].gradient[j] = static_cast<float>(j % 5);
  }
  require_ok(tape.backward(inputs, workspace));
  for (Index i = 0; i < kWidth; ++i) {
    for (Index j = 0; j < kWidth; ++j) {
      CAPTURE(i, j);
      const float own = i == kId ? 1.0F : 0.0F;
      const auto at = static_cast<std::size_t>(i * kWidth + j);
      REQUIRE(dw[at] == (x[static_cast<std::size_t>(i)] + own) * static_cast<float>(j % 5));
    }
  }
}

}  // namespace
}  // namespace qkv::test::tape_test
