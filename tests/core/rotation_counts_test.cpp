// What the layers of a pass have in common is made once for a pass, not once for each layer.
#include <catch2/catch_test_macros.hpp>

#include "language_model_problem.hpp"
#include "rotation_counts.hpp"

namespace qkv::test::rotation_counts_test {
namespace {

/// Sines and cosines of one pass of a model with so many layers, which holds `before` tokens and reads `added` more.
int rotations_of(Index num_layers, Index before, Index added) {
  LanguageModelConfig config = family("llama");
  config.num_layers = num_layers;
  config.max_length = 600;
  const ModelTokens tokens(config, 1, before + added, 1);
  const LanguageModel model = ModelWeights(config, 1).make();
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  Workspace workspace;
  if (before > 0) {
    run(model, tokens.part(0, before), {.last = true, .session = &session}, workspace);
  }
  const RotationCounts counts;
  run(model, tokens.part(before, added), {.last = true, .session = &session}, workspace);
  return counts.count();
}

TEST_CASE("LanguageModel: a pass makes its rotations once, however many layers it has", "[model]") {
  const LanguageModelConfig config = family("llama");
  const Index pairs = config.d_model / config.num_heads / 2;
  REQUIRE(pairs > 0);
  // One position takes five sines for each pair at most (see AngleAnchors), of which those of angle 0 count, too.
  CHECK(rotations_of(1, 9, 1) > 0);
  CHECK(rotations_of(1, 9, 1) <= 5 * pairs);
  for (const Index layers : {2, 5}) {
    CAPTURE(layers);
    CHECK(rotations_of(layers, 9, 1) == rotations_of(1, 9, 1));
    CHECK(rotations_of(layers, 0, 20) == rotations_of(1, 0, 20));
    CHECK(rotations_of(layers, 0, 500) == rotations_of(1, 0, 500));  // in three pieces
  }
}

}  // namespace
}  // namespace qkv::test::rotation_counts_test
