// Tapes themselves: the memory that they plan, and gradients that add up.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <vector>

#include "problem.hpp"
#include "qkv/isa.hpp"
#include "train/tape/tape.hpp"

namespace qkv::test::tape_test {
namespace {

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

}  // namespace
}  // namespace qkv::test::tape_test
