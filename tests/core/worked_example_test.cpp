// The 3 x 2 example that tutorials work through, with its arithmetic right: they print q1.k1 = 0.14, and it
// is 0.1 * 0.7 + 0.2 * 0.8 = 0.07 + 0.16 = 0.23. Every step is computed by plain loops in double
// precision, compared with digits that can be checked by hand, and asked of the library.
#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "problem.hpp"

namespace qkv::test::worked_example_test {
namespace {

using Matrix = std::vector<std::vector<double>>;

const Matrix kQ = {{0.1, 0.2}, {0.3, 0.4}, {0.5, 0.6}};
const Matrix kK = {{0.7, 0.8}, {0.9, 1.0}, {1.1, 1.2}};
const Matrix kV = {{1.3, 1.4}, {1.5, 1.6}, {1.7, 1.8}};

/// q_i . k_j, the same over sqrt(2), the softmax of each row over the keys it may read, and its mean
/// of the values.
struct Steps {
  Matrix products, scaled, weights, output;
};

Steps work_out(bool causal) {
  Steps steps{Matrix(3, std::vector<double>(3)), Matrix(3, std::vector<double>(3)),
              Matrix(3, std::vector<double>(3)), Matrix(3, std::vector<double>(2))};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t keys = causal ? i + 1 : 3;
    double sum = 0.0;
    for (std::size_t j = 0; j < 3; ++j) {
      steps.products[i][j] = kQ[i][0] * kK[j][0] + kQ[i][1] * kK[j][1];
      steps.scaled[i][j] = steps.products[i][j] / std::sqrt(2.0);
      sum += j < keys ? std::exp(steps.scaled[i][j]) : 0.0;
    }
    for (std::size_t j = 0; j < keys; ++j) {
      steps.weights[i][j] = std::exp(steps.scaled[i][j]) / sum;
      steps.output[i][0] += steps.weights[i][j] * kV[j][0];
      steps.output[i][1] += steps.weights[i][j] * kV[j][1];
    }
  }
  return steps;
}

const Matrix kProducts = {{0.23, 0.29, 0.35}, {0.53, 0.67, 0.81}, {0.83, 1.05, 1.27}};
const Matrix kScaled = {{0.16263456, 0.20506097, 0.24748737},
                        {0.37476659, 0.47376154, 0.57275649},
                        {0.58689863, 0.74246212, 0.89802561}};
const Matrix kWeights = {{0.31929539, 0.33313342, 0.34757118},
                         {0.30093191, 0.33224711, 0.36682098},
                         {0.28302325, 0.33066062, 0.38631613}};
const Matrix kOutput = {
    {1.50565516, 1.60565516}, {1.51317781, 1.61317781}, {1.52065858, 1.62065858}};
const Matrix kCausalWeights = {
    {1.0, 0.0, 0.0}, {0.47527145, 0.52472855, 0.0}, {0.28302325, 0.33066062, 0.38631613}};
const Matrix kCausalOutput = {{1.3, 1.4}, {1.40494571, 1.50494571}, {1.52065858, 1.62065858}};

/// The loops give the printed digits, the last of which is rounded.
void check_digits(const Matrix& computed, const Matrix& printed) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < printed[i].size(); ++j) {
      CAPTURE(i, j);
      CHECK(std::abs(computed[i][j] - printed[i][j]) <= 0.5001e-8);
    }
  }
}

std::vector<float> flat(const Matrix& matrix) {
  std::vector<float> values;
  for (const auto& row : matrix) {
    for (double value : row) {
      values.push_back(static_cast<float>(value));
    }
  }
  return values;
}

/// The library's numbers of one step.
void check_library(const char* step, const std::vector<float>& computed, const Matrix& exact,
                   double bound) {
  std::size_t next = 0;
  for (const auto& row : exact) {
    for (double value : row) {
      CAPTURE(step, next, computed[next], value);
      CHECK(std::abs(static_cast<double>(computed[next++]) - value) <= bound);
    }
  }
}

/// Scores as the library forms them, before any bias or exclusion.
std::vector<float> library_scores(std::optional<float> scale) {
  Problem p(square(3, 2), 0);
  p.q = flat(kQ);
  p.k = flat(kK);
  p.v = flat(kV);
  AttentionArgs args = p.args();
  std::vector<float> logits(9, kUntouched);
  args.options.scale = scale;
  args.extras.logits = {logits.data(), {1, 1, 3, 3}};
  args.extras.logit_stage = LogitStage::kRaw;
  require_ok(attention(args, p.workspace));
  return logits;
}

// The bounds of qkv/attention.hpp with d_k = 2, Tk = 3, u = 2^-24. Its inputs are float32 already, and
// 0.1 is not one: rounding q and k moves a score by 2 u A, and the weights, outputs and sums with it by
// twice that. A = 1.27 is the largest product, and also bounds the scaled ones; V = 1.8.
constexpr double kALargest = 1.27;
constexpr double kVLargest = 1.8;
constexpr double kScoreBound = bounds::kU * (2 + 16 + 2) * kALargest;
constexpr double kWeightBound = bounds::kU * (2 * (2 + 16 + 2) * kALargest + 3 + 40);
constexpr double kOutBound =
    bounds::kU * kVLargest * (2 * (2 + 16 + 2) * kALargest + 3 * 3 + 40 + 1);

TEST_CASE("worked example: q1.k1 is 0.23, not 0.14", "[attention][worked-example]") {
  const double q1k1 = work_out(false).products[0][0];
  CHECK(std::abs(q1k1 - 0.23) < 1e-15);
  CHECK(std::abs(q1k1 - 0.14) > 0.08);
  const std::vector<float> computed = library_scores(1.0F);
  CHECK(std::abs(static_cast<double>(computed[0]) - 0.23) <= kScoreBound);
  CHECK(std::abs(static_cast<double>(computed[0]) - 0.14) > 0.08);
}

TEST_CASE("worked example: products and scaled scores", "[attention][worked-example]") {
  const Steps steps = work_out(false);
  check_digits(steps.products, kProducts);
  check_digits(steps.scaled, kScaled);
  check_library("products", library_scores(1.0F), steps.products, kScoreBound);
  check_library("scaled", library_scores(std::nullopt), steps.scaled, kScoreBound);
}

TEST_CASE("worked example: weights and output, also causal", "[attention][worked-example]") {
  for (bool causal : {false, true}) {
    CAPTURE(causal);
    const Steps steps = work_out(causal);
    check_digits(steps.weights, causal ? kCausalWeights : kWeights);
    check_digits(steps.output, causal ? kCausalOutput : kOutput);

    Problem p(square(3, 2), 0);
    p.q = flat(kQ);
    p.k = flat(kK);
    p.v = flat(kV);
    p.options.causal = causal;
    const Result& result = p.run();
    check_library("weights", result.weights, steps.weights, kWeightBound);
    check_library("output", result.out, steps.output, kOutBound);
    if (causal) {  // the first query reads the first key alone, and nothing of the others
      CHECK(result.out[0] == 1.3F);
      CHECK(result.weights[1] == 0.0F);
      CHECK(result.weights[2] == 0.0F);
      CHECK(result.weights[5] == 0.0F);
    }
    p.check();
  }
}

}  // namespace
}  // namespace qkv::test::worked_example_test
