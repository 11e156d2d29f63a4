// What the fuzz targets of tests/core/fuzz have found, and sizes_test.cpp does not have.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>
#include <numeric>

#include "problem.hpp"
#include "qkv/analysis.hpp"
#include "qkv/language_model.hpp"
#include "qkv/rotary.hpp"
#include "qkv/sampling.hpp"

namespace qkv::test::fuzz_findings_test {
namespace {

TEST_CASE("found: a softcap of scores that no int holds, and of NaN", "[attention][extremes]") {
  // One query for each: its score is q, capped at 2. The second key has 0.
  const float huge = 3e38F;
  std::vector<float> q = {1e30F, -huge, INFINITY, -INFINITY, NAN, 0.5F};
  const auto rows = static_cast<Index>(q.size());
  std::vector<float> k = {1.0F, 0.0F};
  std::vector<float> out(q.size(), kUntouched);
  std::vector<float> logits(2 * q.size(), kUntouched);
  AttentionArgs args;
  args.q = {q.data(), {1, 1, rows, 1}};
  args.k = args.v = {k.data(), {1, 1, 2, 1}};
  args.out = {out.data(), {1, 1, rows, 1}};
  args.options.scale = 1.0F;
  args.options.softcap = 2.0F;
  args.extras.logits = {logits.data(), {1, 1, rows, 2}};
  args.extras.logit_stage = LogitStage::kCapped;
  Workspace workspace;
  require_ok(attention(args, workspace));
  CHECK(logits[0] == 2.0F);
  CHECK(logits[2] == -2.0F);
  CHECK(logits[4] == 2.0F);
  CHECK(logits[6] == -2.0F);
  CHECK(std::isnan(logits[8]));
  CHECK(std::abs(logits[10] - 2.0F * std::tanh(0.25F)) <= 1e-6F);
  for (std::size_t row : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
    CHECK(std::isfinite(out[row]));
  }
  CHECK(std::isnan(out[4]));
}

TEST_CASE("found: an absent view is absent, whatever its pointer says", "[bad-input]") {
  Workspace workspace;
  std::vector<float> x(2 * 3 * 4);
  std::iota(x.begin(), x.end(), 0.75F);  // of equal ones a norm makes 0, whatever their factor
  std::vector<float> with(x.size());
  std::vector<float> without(x.size());
  const TensorView<const float> from(x.data(), {1, 2, 3, 4});
  const TensorView<float> to(with.data(), {1, 2, 3, 4});
  const TensorView<float> expected(without.data(), {1, 2, 3, 4});

  const std::int32_t position = 1000;
  RotaryOptions rotary;
  require_ok(rotary_embedding(from, expected, rotary, workspace));
  rotary.positions.data = &position;
  require_ok(rotary_embedding(from, to, rotary, workspace));
  CHECK(with == without);

  const std::vector<float> factors(4, 1000.0F);
  NormOptions norm;
  require_ok(layer_norm(from, expected, norm));
  norm.gamma.data = factors.data();
  require_ok(layer_norm(from, to, norm));
  CHECK(with == without);
  norm.beta.data = factors.data();
  require_ok(layer_norm(from, to, norm));
  CHECK(with == without);
}

TEST_CASE("found: rows without keys have an entropy and no address", "[analysis][empty]") {
  std::vector<float> out(3, kUntouched);
  TensorView<const float> rows(nullptr, {3, 0});
  rows.strides[0] = std::numeric_limits<Index>::max() / 2;
  require_ok(row_entropy(rows, {out.data(), {3}}));
  CHECK(out == std::vector<float>(3, 0.0F));
}

TEST_CASE("found: attention without keys forms no address from a null array",
          "[attention][empty]") {
  std::vector<float> q(2 * 5, 1.0F);
  std::vector<float> out(2 * 40, kUntouched);
  Workspace workspace;
  require_ok(attention({.q = {q.data(), {1, 1, 2, 5}},
                        .k = {nullptr, {1, 1, 0, 5}},
                        .v = {nullptr, {1, 1, 0, 40}},
                        .out = {out.data(), {1, 1, 2, 40}},
                        .options = {},
                        .extras = {}},
                       workspace));
  CHECK(out == std::vector<float>(out.size(), 0.0F));
}

TEST_CASE("found: a model of more inputs than 64 bits count the bytes of is refused",
          "[model][memory]") {
  const std::size_t bytes = allocated_bytes();
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8,
                                    WeightFormat::kF16, WeightFormat::kInt4}) {
    LanguageModelConfig config;
    config.vocabulary = 1;
    config.num_layers = 1;
    config.num_heads = 1;
    config.max_length = 1;
    config.positions = ModelPositions::kNone;
    config.tied_embeddings = true;
    // Of 2^60, times the columns of a panel, 64 bits keep nothing.
    for (const int bits : {50, 56, 60, 61, 62}) {
      if (bits < std::numeric_limits<Index>::digits) {
        config.d_model = Index{1} << bits;
        LanguageModel model;
        const Status status = LanguageModel::create(config, format, model);
        CAPTURE(bits, status.message());
        CHECK(status.code() == StatusCode::kOutOfMemory);
      }
    }
  }
  CHECK(allocated_bytes() == bytes);
}

TEST_CASE("found: tokens that were seen and have no rank are absent, whatever their extent says",
          "[sampling]") {
  const std::vector<float> logits = {0.5F, 2.0F, -1.0F, 1.0F};
  const std::vector<std::int32_t> one = {1};
  SamplingArgs args{.logits = {logits.data(), {4}}};
  args.options.repetition_penalty = 1.3F;
  args.seen.data = one.data();
  args.seen.shape[0] = 1 << 20;  // more than there are
  Workspace workspace;
  SampledToken token;
  require_ok(sample(args, workspace, token));
  CHECK(token.id == 1);
}

}  // namespace
}  // namespace qkv::test::fuzz_findings_test
