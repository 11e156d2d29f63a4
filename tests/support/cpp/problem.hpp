// An attention call that owns its arrays, for tests to bend.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "qkv/qkv.hpp"
#include "random.hpp"

namespace qkv::test {

struct Shape {
  Index batch = 1;
  Index heads = 1;
  Index kv_heads = 1;
  Index tq = 1;
  Index tk = 1;
  Index dk = 8;
  Index dv = 8;
};

/// Self-attention of `heads` heads over t tokens.
constexpr Shape square(Index t, Index d, Index heads = 1) {
  return {.batch = 1, .heads = heads, .kv_heads = heads, .tq = t, .tk = t, .dk = d, .dv = d};
}

/// Up to two batch rows and key/value heads; lengths and heads of a group from the lists, heads of width 1 to `widest`.
template <std::size_t kSizes, std::size_t kRatios>
Shape random_shape(Random& random, const Index (&sizes)[kSizes], const Index (&ratios)[kRatios],
                   Index widest) {
  Shape s;
  s.batch = 1 + random.below(2);
  s.kv_heads = 1 + random.below(2);
  s.heads = s.kv_heads * random.pick(ratios);
  s.tq = random.pick(sizes);
  s.tk = random.pick(sizes);
  s.dk = 1 + random.below(widest);
  s.dv = 1 + random.below(widest);
  return s;
}

/// What a call wrote.
struct Result {
  std::vector<float> out, weights, lse, entropy;
};

/// Of all that two calls wrote; empty if every bit is the same.
inline std::string first_difference(const Result& a, const Result& b) {
  for (const auto& [name, array] : {std::pair{"out", &Result::out},
                                    {"weights", &Result::weights},
                                    {"lse", &Result::lse},
                                    {"entropy", &Result::entropy}}) {
    const std::string difference = first_difference(a.*array, b.*array);
    if (!difference.empty()) {
      return name + (": " + difference);
    }
  }
  return "";
}

/// A dense view with the extents in `shape` (1 to 4 of them).
template <class T>
TensorView<T> view_of(T* data, const std::vector<Index>& shape) {
  TensorView<T> view;
  view.data = data;
  view.rank = static_cast<int>(shape.size());
  Index stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    view.shape[axis] = shape[axis];
    view.strides[axis] = stride;
    stride *= shape[axis];
  }
  return view;
}

/// The fill of outputs before a call, to see what was written.
inline constexpr float kUntouched = -12345.678F;

class Problem {
 public:
  Problem(const Shape& s, std::uint64_t seed) : shape(s), random_(seed) {
    q = random_floats(random_, s.batch * s.heads * s.tq * s.dk);
    k = random_floats(random_, s.batch * s.kv_heads * s.tk * s.dk);
    v = random_floats(random_, s.batch * s.kv_heads * s.tk * s.dv);
    result.out.assign(count(s.batch * s.heads * s.tq * s.dv), kUntouched);
    result.weights.assign(count(s.batch * s.heads * s.tq * s.tk), kUntouched);
    result.lse.assign(count(s.batch * s.heads * s.tq), kUntouched);
    result.entropy.assign(count(s.batch * s.heads * s.tq), kUntouched);
  }

  /// A random mask of this shape that leaves about `density` of the keys.
  void add_mask(const std::vector<Index>& extents, double density = 0.7) {
    mask_shape = extents;
    mask.resize(count(product(extents)));
    for (auto& m : mask) {
      m = random_.chance(density) ? static_cast<std::uint8_t>(1 + random_.below(255)) : 0;
    }
  }
  /// A random bias of this shape with about `excluded` of its elements -inf.
  void add_bias(const std::vector<Index>& extents, double excluded = 0.2) {
    bias_shape = extents;
    bias = random_floats(random_, product(extents), 2.0F);
    for (float& b : bias) {
      b = random_.chance(excluded) ? -INFINITY : b;
    }
  }
  void causal(Index offset) {
    options.causal = true;
    options.causal_offset = offset;
  }
  /// A mask and a bias of shapes that broadcast, and a causal offset, each half of the time.
  void exclude_at_random(Random& random);

  /// Dense views over everything, with all extras.
  [[nodiscard]] AttentionArgs args() {
    const Shape& s = shape;
    AttentionArgs a;
    a.q = {q.data(), {s.batch, s.heads, s.tq, s.dk}};
    a.k = {k.data(), {s.batch, s.kv_heads, s.tk, s.dk}};
    a.v = {v.data(), {s.batch, s.kv_heads, s.tk, s.dv}};
    a.out = {result.out.data(), {s.batch, s.heads, s.tq, s.dv}};
    a.options = options;
    if (!mask_shape.empty()) {
      a.options.mask = view_of<const std::uint8_t>(mask.data(), mask_shape);
    }
    if (!bias_shape.empty()) {
      a.options.bias = view_of<const float>(bias.data(), bias_shape);
    }
    a.extras.weights = {result.weights.data(), {s.batch, s.heads, s.tq, s.tk}};
    a.extras.lse = {result.lse.data(), {s.batch, s.heads, s.tq}};
    a.extras.entropy = {result.entropy.data(), {s.batch, s.heads, s.tq}};
    return a;
  }

  /// Runs the call, which must succeed, and returns all it wrote.
  const Result& run() &;
  /// Runs the call and asserts that everything is within the bounds.
  void check(Bounds bounds = Bounds::kMeaningful);

  /// Row t of a head of k or v.
  [[nodiscard]] float* k_row(Index b, Index kv, Index t) {
    return k.data() + ((b * shape.kv_heads + kv) * shape.tk + t) * shape.dk;
  }
  [[nodiscard]] float* v_row(Index b, Index kv, Index t) {
    return v.data() + ((b * shape.kv_heads + kv) * shape.tk + t) * shape.dv;
  }
  /// All of query row (b, h, i): out, weights, lse, entropy.
  [[nodiscard]] std::vector<float> row(const Result& of, oracle::RowId id) const;

  Shape shape;
  AttentionOptions options;  ///< its mask and bias views are set by args()
  std::vector<float> q, k, v, bias;
  std::vector<std::uint8_t> mask;
  std::vector<Index> mask_shape, bias_shape;
  Result result;
  Workspace workspace;

 private:
  static std::size_t count(Index n) { return static_cast<std::size_t>(n); }
  static Index product(const std::vector<Index>& extents) {
    Index n = 1;
    for (Index extent : extents) {
      n *= extent;
    }
    return n;
  }
  Random random_;
};

/// Asserts that a call succeeded, and says why not.
void require_ok(const Status& status);

}  // namespace qkv::test
