// A call of rotary_embedding() that owns its arrays, and compares itself with the oracle.
#pragma once

#include <vector>

#include "compare.hpp"
#include "position_oracle.hpp"
#include "problem.hpp"
#include "qkv/rotary.hpp"

namespace qkv::test {

inline constexpr RotaryScaling kYarn{
    .type = RotaryScaling::Type::kYarn, .factor = 4.0, .original_length = 2048};

struct RotarySize {
  Index batch = 1;
  Index heads = 1;
  Index tokens = 1;
  Index d = 8;
};

/// A call that owns its arrays.
class Rotary {
 public:
  Rotary(const RotarySize& s, std::uint64_t seed) : size(s) {
    Random random(seed);
    x = random_floats(random, s.batch * s.heads * s.tokens * s.d);
    out.assign(x.size(), kUntouched);
  }

  [[nodiscard]] TensorView<const float> x_view() const {
    return {x.data(), {size.batch, size.heads, size.tokens, size.d}};
  }
  [[nodiscard]] TensorView<float> out_view() {
    return {out.data(), {size.batch, size.heads, size.tokens, size.d}};
  }
  const std::vector<float>& run() & {
    require_ok(rotary_embedding(x_view(), out_view(), options, workspace));
    return out;
  }
  /// Positions, one for each token of all rows or of each row.
  void set_positions(std::vector<std::int32_t> values, bool by_row) {
    positions = std::move(values);
    options.positions =
        by_row ? TensorView<const std::int32_t>(positions.data(), {size.batch, size.tokens})
               : TensorView<const std::int32_t>(positions.data(), {size.tokens});
  }
  /// Compares all of out with the oracle, dimensions that are copied exactly.
  void compare(Quantity& error) {
    run();
    const double a = oracle::rotary_attention_factor(options);
    const TensorView<const float> from = x_view();
    const TensorView<float> to = out_view();
    const bool given = !options.cos.absent();
    for (Index b = 0; b < size.batch; ++b) {
      for (Index h = 0; h < size.heads; ++h) {
        for (Index t = 0; t < size.tokens; ++t) {
          for (Index c = 0; c < size.d; ++c) {
            const auto exact = oracle::rotary(from, options, b, h, t, c);
            const double computed = *to.at(b, h, t, c);
            exact.norm == 0.0 ? error.add_exact(computed, exact.value)
            : given
                ? error.add(computed, exact.value, bounds::rotary_given(exact.size), exact.size)
                : error.add(computed, exact.value, bounds::rotary(a, exact.norm), a * exact.norm);
          }
        }
      }
    }
  }

  RotarySize size;
  RotaryOptions options;
  std::vector<float> x, out;
  std::vector<std::int32_t> positions;
  Workspace workspace;
};

}  // namespace qkv::test
