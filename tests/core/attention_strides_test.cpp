// attention() on arrays that are not dense [B, H, T, d]: strides in, strides out.
#include <catch2/catch_test_macros.hpp>

#include "problem.hpp"

namespace qkv::test::attention_strides_test {
namespace {

constexpr Shape kShape{.batch = 2, .heads = 4, .kv_heads = 2, .tq = 9, .tk = 21, .dk = 7, .dv = 5};

/// A rank-4 view of [B, H, T, d] with `gap` unused elements after each row and after each head.
template <class T>
TensorView<T> padded_view(T* data, const std::array<Index, 4>& shape, Index gap) {
  TensorView<T> view(data, {shape[0], shape[1], shape[2], shape[3]});
  const Index row = shape[3] + gap;
  const Index head = shape[2] * row + gap;
  view.strides = {shape[1] * head + gap, head, row, 1};
  return view;
}

template <class T>
Index span(const TensorView<T>& view) {
  Index last = 0;
  for (int axis = 0; axis < view.rank; ++axis) {
    last += (view.extent(axis) - 1) * view.stride(axis);
  }
  return last + 1;
}

/// An array laid out by a strided view, filled from a dense one.
struct Strided {
  Strided(TensorView<float> layout, const std::vector<float>& dense, float filler)
      : memory(static_cast<std::size_t>(span(layout)), filler), view(layout) {
    view.data = memory.data();
    std::size_t next = 0;
    for (Index b = 0; b < view.extent(0); ++b) {
      for (Index h = 0; h < view.extent(1); ++h) {
        for (Index t = 0; t < view.extent(2); ++t) {
          for (Index d = 0; d < view.extent(3); ++d) {
            *view.at(b, h, t, d) = dense[next++];
          }
        }
      }
    }
  }
  std::vector<float> memory;
  TensorView<float> view;
};

/// Counts elements of `memory` outside `view` that are not `filler` any more.
std::size_t touched_outside(const Strided& array, float filler) {
  std::vector<bool> inside(array.memory.size(), false);
  const auto& view = array.view;
  for (Index b = 0; b < view.extent(0); ++b) {
    for (Index h = 0; h < view.extent(1); ++h) {
      for (Index t = 0; t < view.extent(2); ++t) {
        for (Index d = 0; d < view.extent(3); ++d) {
          inside[static_cast<std::size_t>(view.at(b, h, t, d) - view.data)] = true;
        }
      }
    }
  }
  std::size_t touched = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    touched += !inside[i] && array.memory[i] != filler ? 1U : 0U;
  }
  return touched;
}

TEST_CASE("strides: padded q, k and v give the bits of dense ones", "[attention][strides]") {
  Problem p(kShape, 1);
  p.run();
  const Result dense = p.result;
  for (Index gap : {1, 3, 16}) {
    CAPTURE(gap);
    AttentionArgs args = p.args();
    // NaN in the gaps: reading one would show.
    const Strided q(padded_view<float>(nullptr, args.q.shape, gap), p.q, NAN);
    const Strided k(padded_view<float>(nullptr, args.k.shape, gap), p.k, NAN);
    const Strided v(padded_view<float>(nullptr, args.v.shape, gap), p.v, NAN);
    args.q = q.view;
    args.k = k.view;
    args.v = v.view;
    require_ok(attention(args, p.workspace));
    CHECK(first_difference(dense.out, p.result.out) == "");
    CHECK(first_difference(dense.weights, p.result.weights) == "");
  }
}

TEST_CASE("strides: q, k and v inside one fused array", "[attention][strides]") {
  // [B, T, (Hq + Hkv) d_k + Hkv d_v], what one projection for all three writes.
  const Shape s{.batch = 2, .heads = 4, .kv_heads = 2, .tq = 21, .tk = 21, .dk = 7, .dv = 5};
  Problem p(s, 3);
  p.run();
  const Result dense = p.result;
  const Index width = s.heads * s.dk + s.kv_heads * (s.dk + s.dv);
  std::vector<float> fused(static_cast<std::size_t>(s.batch * s.tq * width), NAN);
  const auto part = [&](Index column, Index heads, Index d, const std::vector<float>& from) {
    TensorView<float> view(fused.data() + column, {s.batch, heads, s.tq, d});
    view.strides = {s.tq * width, d, width, 1};
    std::size_t next = 0;
    for (Index b = 0; b < s.batch; ++b) {
      for (Index h = 0; h < heads; ++h) {
        for (Index t = 0; t < s.tq; ++t) {
          for (Index i = 0; i < d; ++i) {
            *view.at(b, h, t, i) = from[next++];
          }
        }
      }
    }
    return view;
  };
  AttentionArgs args = p.args();
  args.q = part(0, s.heads, s.dk, p.q);
  args.k = part(s.heads * s.dk, s.kv_heads, s.dk, p.k);
  args.v = part((s.heads + s.kv_heads) * s.dk, s.kv_heads, s.dv, p.v);
  require_ok(attention(args, p.workspace));
  CHECK(first_difference(dense.out, p.result.out) == "");
}

TEST_CASE("strides: out and weights may be strided, and what lies between their rows stays",
          "[attention][strides]") {
  for (Index n : {1, 3, 8, 16, 17, 33, 65}) {
    CAPTURE(n);
    Shape s = kShape;
    s.tk = s.dv = n;
    Problem p(s, 4);
    p.run();
    const Result dense = p.result;
    AttentionArgs args = p.args();
    const Strided out(padded_view<float>(nullptr, args.out.shape, 3), dense.out, kUntouched);
    const Strided weights(padded_view<float>(nullptr, args.extras.weights.shape, 3), dense.weights,
                          kUntouched);
    args.out = out.view;
    args.extras.weights = weights.view;
    require_ok(attention(args, p.workspace));
    CHECK(first_difference(dense.out, values_of(args.out)) == "");
    CHECK(first_difference(dense.weights, values_of(args.extras.weights)) == "");
    CHECK(touched_outside(out, kUntouched) == 0);
    CHECK(touched_outside(weights, kUntouched) == 0);
  }
}

TEST_CASE("strides: lse and entropy may have gaps between heads", "[attention][strides]") {
  Problem p(kShape, 6);
  p.run();
  const Result dense = p.result;
  const Index gap = 2;
  const auto spaced = [&](std::vector<float>& memory) {
    memory.assign(static_cast<std::size_t>(kShape.batch * kShape.heads * (kShape.tq + gap)),
                  kUntouched);
    TensorView<float> view(memory.data(), {kShape.batch, kShape.heads, kShape.tq});
    view.strides = {kShape.heads * (kShape.tq + gap), kShape.tq + gap, 1};
    return view;
  };
  std::vector<float> lse;
  std::vector<float> entropy;
  AttentionArgs args = p.args();
  args.extras.lse = spaced(lse);
  args.extras.entropy = spaced(entropy);
  require_ok(attention(args, p.workspace));
  CHECK(first_difference(dense.lse, values_of(args.extras.lse)) == "");
  CHECK(first_difference(dense.entropy, values_of(args.extras.entropy)) == "");
  CHECK(std::count(lse.begin(), lse.end(), kUntouched) == kShape.batch * kShape.heads * gap);
  CHECK(std::count(entropy.begin(), entropy.end(), kUntouched) ==
        kShape.batch * kShape.heads * gap);
}

TEST_CASE(
    "strides: a stride of zero repeats an array over batch rows and heads, or a token over all",
    "[attention][strides]") {
  for (const bool tokens : {false, true}) {
    Problem p(kShape, 7);
    AttentionArgs args = p.args();
    for (auto* strides : {&args.k.strides, &args.v.strides}) {
      ((*strides)[tokens ? 2 : 0]) = 0;
      ((*strides)[tokens ? 2 : 1]) = 0;
    }
    require_ok(attention(args, p.workspace));
    require_within(compare_attention(args));
  }
}

TEST_CASE("strides: the stride of an axis of extent 1 means nothing", "[attention][strides]") {
  Problem p({.tq = 1, .tk = 1, .dk = 1, .dv = 1}, 9);
  AttentionArgs args = p.args();
  for (auto* strides : {&args.q.strides, &args.k.strides, &args.v.strides, &args.out.strides}) {
    *strides = {77, 99, 1234, 55};
  }
  require_ok(attention(args, p.workspace));
  CHECK(p.result.out[0] == p.v[0]);
}

TEST_CASE("strides: pointers aligned to nothing but a float give the same bits",
          "[attention][strides]") {
  Problem p({.heads = 2, .kv_heads = 1, .tq = 13, .tk = 37, .dk = 20, .dv = 19}, 10);
  p.add_mask({13, 37});
  p.add_bias({13, 37});
  p.run();
  const Result aligned = p.result;
  const auto shifted = [](const auto& values, std::size_t shift) {
    auto copy = values;
    copy.insert(copy.begin(), shift, {});
    return copy;
  };
  for (std::size_t shift = 1; shift <= 15; ++shift) {
    CAPTURE(shift);
    const auto q = shifted(p.q, shift);
    const auto k = shifted(p.k, (shift * 3) % 16);
    const auto v = shifted(p.v, (shift * 5) % 16);
    const auto bias = shifted(p.bias, (shift * 7) % 16);
    const auto mask = shifted(p.mask, shift);
    auto out = shifted(aligned.out, shift);
    auto weights = shifted(aligned.weights, (shift * 11) % 16);
    std::fill(out.begin(), out.end(), kUntouched);
    std::fill(weights.begin(), weights.end(), kUntouched);
    AttentionArgs args = p.args();
    args.q.data = q.data() + shift;
    args.k.data = k.data() + (shift * 3) % 16;
    args.v.data = v.data() + (shift * 5) % 16;
    args.options.bias.data = bias.data() + (shift * 7) % 16;
    args.options.mask.data = mask.data() + shift;
    args.out.data = out.data() + shift;
    args.extras.weights.data = weights.data() + (shift * 11) % 16;
    require_ok(attention(args, p.workspace));
    CHECK(first_difference(aligned.out, values_of(args.out)) == "");
    CHECK(first_difference(aligned.weights, values_of(args.extras.weights)) == "");
  }
}

}  // namespace
}  // namespace qkv::test::attention_strides_test
