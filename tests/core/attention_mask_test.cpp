// Boolean masks and additive biases: every broadcast shape, layout and combination.
#include <catch2/catch_test_macros.hpp>

#include <utility>

#include "problem.hpp"

namespace qkv::test::attention_mask_test {
namespace {

constexpr Shape kSmall{.batch = 2, .heads = 4, .kv_heads = 2, .tq = 7, .tk = 19, .dk = 6, .dv = 5};

/// Every shape of rank 1 to 4 that broadcasts to [B, Hq, Tq, Tk].
std::vector<std::vector<Index>> broadcast_shapes(const Shape& s) {
  const Index full[4] = {s.batch, s.heads, s.tq, s.tk};
  std::vector<std::vector<Index>> shapes;
  for (int rank = 1; rank <= 4; ++rank) {
    for (int ones = 0; ones < 1 << rank; ++ones) {
      std::vector<Index> shape(full + 4 - rank, full + 4);
      for (int axis = 0; axis < rank; ++axis) {
        if ((ones >> axis & 1) != 0) {
          shape[static_cast<std::size_t>(axis)] = 1;
        }
      }
      shapes.push_back(shape);
    }
  }
  return shapes;
}

TEST_CASE("mask and bias: every broadcast shape, alone, together and with causal",
          "[attention][mask][bias]") {
  std::uint64_t seed = 1;
  for (const auto& shape : broadcast_shapes(kSmall)) {
    for (const bool causal : {false, true}) {
      for (const bool mask : {false, true}) {
        for (const bool bias : {false, true}) {
          CAPTURE(shape, causal, mask, bias);
          Problem p(kSmall, seed++);
          if (mask) {
            p.add_mask(shape);
          }
          if (bias) {
            p.add_bias(mask ? std::vector<Index>{1, kSmall.heads, 1, kSmall.tk} : shape);
          }
          if (causal) {
            p.causal(mask ? 8 : -2);
          }
          p.check();
        }
      }
    }
  }
}

TEST_CASE("mask: true means attend", "[attention][mask]") {
  Problem p({.tq = 1, .tk = 3, .dk = 4, .dv = 1}, 400);
  p.mask_shape = {3};
  p.mask = {0, 1, 0};
  const Result& r = p.run();
  CHECK(r.weights == std::vector<float>{0.0F, 1.0F, 0.0F});
  CHECK(r.out[0] == p.v[1]);
}

TEST_CASE("mask: any nonzero byte is true", "[attention][mask]") {
  Problem ones(kSmall, 500);
  ones.add_mask({kSmall.tq, kSmall.tk});
  Problem bytes(kSmall, 500);
  bytes.add_mask({kSmall.tq, kSmall.tk});
  for (auto& m : ones.mask) {
    m = m != 0 ? 1 : 0;
  }
  constexpr std::uint8_t kBytes[] = {1, 2, 64, 128, 255};
  for (std::size_t i = 0; i < bytes.mask.size(); ++i) {
    bytes.mask[i] = bytes.mask[i] != 0 ? kBytes[i % 5] : 0;
  }
  CHECK(first_difference(ones.run().out, bytes.run().out) == "");
}

TEST_CASE("mask: -inf in the bias is not undone by a true mask, nor a false mask by the bias",
          "[attention][mask][bias]") {
  Problem p({.tq = 1, .tk = 4, .dk = 4, .dv = 2}, 900);
  p.mask_shape = {4};
  p.mask = {1, 0, 1, 0};
  p.bias_shape = {4};
  p.bias = {-INFINITY, 100.0F, 0.5F, -INFINITY};
  CHECK(p.run().weights == std::vector<float>{0.0F, 0.0F, 1.0F, 0.0F});
}

/// `dense` with every element `step` apart on the last axis and rows `row_gap` further.
template <class T>
std::vector<T> spread(const std::vector<T>& dense, Index columns, Index step, Index row_gap,
                      T filler) {
  std::vector<T> wide;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    wide.push_back(dense[i]);
    wide.insert(wide.end(), static_cast<std::size_t>(step - 1), filler);
    if ((static_cast<Index>(i) + 1) % columns == 0) {
      wide.insert(wide.end(), static_cast<std::size_t>(row_gap), filler);
    }
  }
  return wide;
}

TEST_CASE("mask and bias may have any strides", "[attention][mask][bias][strides]") {
  constexpr Index kStep = 3;
  constexpr Index kGap = 5;
  Problem p(kSmall, 1000);
  p.add_mask({kSmall.tq, kSmall.tk});
  p.add_bias({kSmall.tq, kSmall.tk});
  p.run();
  const Result dense = p.result;

  const auto mask = spread<std::uint8_t>(p.mask, kSmall.tk, kStep, kGap, 1);
  const auto bias = spread(p.bias, kSmall.tk, kStep, kGap, 1e9F);
  AttentionArgs args = p.args();
  args.options.mask.data = mask.data();
  args.options.mask.strides = {kSmall.tk * kStep + kGap, kStep};
  args.options.bias.data = bias.data();
  args.options.bias.strides = {kSmall.tk * kStep + kGap, kStep};
  require_ok(attention(args, p.workspace));
  CHECK(first_difference(dense.out, p.result.out) == "");
  CHECK(first_difference(dense.weights, p.result.weights) == "");
}

TEST_CASE("mask and bias may be transposed views", "[attention][mask][bias][strides]") {
  Problem p(kSmall, 1100);
  p.add_mask({kSmall.tk, kSmall.tq});
  p.add_bias({kSmall.tk, kSmall.tq});
  AttentionArgs args = p.args();
  args.options.mask.shape = args.options.bias.shape = {kSmall.tq, kSmall.tk};
  args.options.mask.strides = args.options.bias.strides = {1, kSmall.tq};
  require_ok(attention(args, p.workspace));
  require_within(compare_attention(args));
}

/// A mask of blocks of `size` queries by `size` keys, of which about one in `one_in` is left.
std::vector<std::uint8_t> block_mask(Index t, Index size, Index one_in) {
  std::vector<std::uint8_t> mask;
  for (Index i = 0; i < t; ++i) {
    for (Index j = 0; j < t; ++j) {
      const bool left = (5 * (i / size) + 3 * (j / size)) % one_in == 0;
      mask.push_back(left ? static_cast<std::uint8_t>(1 + (i + j) % 255) : 0);
    }
  }
  return mask;
}

TEST_CASE("block mask: blocks that are left out give the bits of keys excluded one by one",
          "[attention][mask][excluded]") {
  constexpr Index kT = 250;
  for (Index size : {1, 17, 48, 64, 100}) {
    for (Index one_in : {1, 2, 8}) {
      for (const bool causal : {false, true}) {
        CAPTURE(size, one_in, causal);
        Problem p({.heads = 2, .kv_heads = 1, .tq = kT, .tk = kT, .dk = 8, .dv = 9}, 300);
        p.options.causal = causal;
        // Neither array excludes a whole block, so that nothing is skipped: only both together do.
        const std::vector<std::uint8_t> mask = block_mask(kT, size, one_in);
        p.mask_shape = p.bias_shape = {kT, kT};
        p.mask.assign(mask.size(), 1);
        p.bias.assign(mask.size(), 0.0F);
        for (std::size_t n = 0; n < mask.size(); ++n) {
          p.mask[n] = mask[n] != 0 || n % 2 == 0 ? 1 : 0;
          p.bias[n] = mask[n] != 0 || n % 2 != 0 ? 0.0F : -INFINITY;
        }
        const Result one_by_one = p.run();
        p.bias_shape = {};
        p.mask = mask;
        p.check();
        const Result skipped = p.result;
        p.mask_shape = {};
        std::vector<float> additive(mask.size());
        for (std::size_t n = 0; n < mask.size(); ++n) {
          additive[n] = mask[n] != 0 ? 0.0F : -INFINITY;
        }
        p.options.additive_mask = {additive.data(), {kT, kT}};
        const Result& by_bias = p.run();
        for (const Result* result : {&skipped, &by_bias}) {
          REQUIRE(first_difference(one_by_one, *result) == "");
        }
      }
    }
  }
}

TEST_CASE("block mask: one key anywhere keeps its block", "[attention][mask]") {
  for (const auto& [tq, keys] : {std::pair<Index, Index>{1, 200}, {50, 200}, {24, 4400}}) {
    for (Index key = 0; key < keys; key += keys / 29) {
      for (Index stride : {1, 2}) {
        CAPTURE(tq, key, stride);
        Problem p({.tq = tq, .tk = keys, .dk = 8, .dv = 4}, 301);
        const Index row = tq / 2;
        std::vector<std::uint8_t> mask(static_cast<std::size_t>(tq * keys * stride), 0);
        mask[static_cast<std::size_t>((row * keys + key) * stride)] = 128;
        AttentionArgs args = p.args();
        args.options.mask = {mask.data(), {tq, keys}};
        args.options.mask.strides = {keys * stride, stride};
        require_ok(attention(args, p.workspace));
        for (Index i = 0; i < tq; ++i) {
          for (Index d = 0; d < 4; ++d) {
            REQUIRE(p.result.out[static_cast<std::size_t>(i * 4 + d)] ==
                    (i == row ? p.v_row(0, 0, key)[d] : 0.0F));
          }
        }
      }
    }
  }
}

TEST_CASE("block mask: true everywhere gives the bits of no mask", "[attention][mask]") {
  Problem p(square(200, 16, 2), 302);
  p.options.causal = true;
  const Result plain = p.run();
  p.mask_shape = {200, 200};
  p.mask.assign(200 * 200, 0x80);
  REQUIRE(first_difference(plain.out, p.run().out) == "");
}

}  // namespace
}  // namespace qkv::test::attention_mask_test
