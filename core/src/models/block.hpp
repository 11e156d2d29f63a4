// What a block of a transformer does with its stream, written once: LanguageModel runs these steps, trainers record them.
#pragma once

#include <cstdint>

#include "models/layer_config.hpp"

namespace qkv {

/// The parts of a block, each of which adds to the stream. Cross-attention is for blocks that read a second stream.
enum class Sublayer : std::uint8_t { kAttention, kCross, kFeedForward };

/// The stream after a block over x. Steps has
///   normalize_input(part, x), normalize_output(part, y), normalize_sum(part, x)   norms of a part, see NormPlaces
///   compute(part, x)       what the part makes of x
///   add(x, y)              x + y, which may be where x is
///   crosses()              whether the block has cross-attention
///   goes_on()              false when nobody reads the stream after attention
template <class Stream, class Steps>
Stream run_block(const LayerConfig& c, Steps& steps, Stream x) noexcept {
  const auto input = [&](Sublayer part, Stream from) {
    const bool normal = part == Sublayer::kAttention ? c.norms.attention_input : c.norms.input;
    return normal ? steps.normalize_input(part, from) : from;
  };
  const auto output = [&](Sublayer part, Stream from) {
    const Stream y = steps.compute(part, from);
    return c.norms.output ? steps.normalize_output(part, y) : y;
  };
  const auto add = [&](Sublayer part, Stream to, Stream y) {
    const Stream sum = steps.add(to, y);
    return c.norms.sum ? steps.normalize_sum(part, sum) : sum;
  };
  using enum Sublayer;
  const bool feeds = c.d_feed_forward > 0;
  const Stream attended = output(kAttention, input(kAttention, x));
  if (!steps.goes_on()) {
    return x;
  }
  // Before the sum, which may be where x is.
  const Stream beside = feeds && c.parallel ? input(kFeedForward, x) : x;
  x = add(kAttention, x, attended);
  if (steps.crosses()) {
    x = add(kCross, x, output(kCross, input(kCross, x)));
  }
  if (!feeds) {
    return x;
  }
  return add(kFeedForward, x, output(kFeedForward, c.parallel ? beside : input(kFeedForward, x)));
}

}  // namespace qkv
