// Gradients of T5's and Transformer-XL's biases against the formulas in double precision.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "position_oracle.hpp"
#include "problem.hpp"
#include "qkv/train/relative_bias.hpp"
#include "refusal.hpp"
#include "train_differences.hpp"

namespace qkv::test::relative_bias_backward_test {
namespace {

using Doubles = std::vector<double>;

constexpr double kU = bounds::kU;

std::vector<float> untouched(Index n) {
  return std::vector<float>(static_cast<std::size_t>(n), kUntouched);
}

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// ----------------------------------------------------------------------------------------------- T5

/// Gradients of one bias, [12 buckets, 3 heads].
struct T5Backward {
  static constexpr Index kBuckets = 12;
  static constexpr Index kHeads = 3;

  T5Backward(const T5Options& o, Index queries, Index keys, std::uint64_t seed)
      : options(o), tq(queries), tk(keys) {
    Random random(seed);
    d_bias = random_floats(random, kHeads * tq * tk);
    d_table = untouched(kBuckets * kHeads);
  }
  void run() {
    require_ok(train::t5_relative_bias_backward({d_bias.data(), {kHeads, tq, tk}},
                                                {d_table.data(), {kBuckets, kHeads}}, options));
  }
  /// The pairs of a bucket, for one head.
  [[nodiscard]] oracle::Sum exact(Index bucket, Index h, Index& pairs) const {
    oracle::Sum sum;
    pairs = 0;
    for (Index i = 0; i < tq; ++i) {
      for (Index j = 0; j < tk; ++j) {
        if (oracle::t5_bucket(j - (i + options.offset), kBuckets, options) == bucket) {
          sum.add(static_cast<double>(d_bias[at((h * tq + i) * tk + j)]));
          ++pairs;
        }
      }
    }
    return sum;
  }

  T5Options options;
  Index tq, tk;
  std::vector<float> d_bias, d_table;
};

TEST_CASE("t5_relative_bias_backward: every shape and offset is within the bound",
          "[train][t5][any-isa]") {
  Quantity quantity("t5_relative_bias_backward");
  std::uint64_t seed = 1;
  for (const bool bidirectional : {false, true}) {
    for (const Index offset : {Index{0}, Index{7}, Index{-3}, Index{200}, -kMaxPosition}) {
      for (const auto& [tq, tk] : {std::pair<Index, Index>{1, 1}, {1, 40}, {40, 1}, {33, 47}}) {
        CAPTURE(bidirectional, offset, tq, tk);
        T5Backward p({.bidirectional = bidirectional, .max_distance = 20, .offset = offset}, tq, tk,
                     seed++);
        p.run();
        for (Index bucket = 0; bucket < T5Backward::kBuckets; ++bucket) {
          for (Index h = 0; h < T5Backward::kHeads; ++h) {
            Index pairs = 0;
            const oracle::Sum exact = p.exact(bucket, h, pairs);
            const double got = p.d_table[at(bucket * T5Backward::kHeads + h)];
            REQUIRE((pairs > 0 || got == 0.0));
            quantity.add(
                got, exact.value,
                kU * (std::abs(exact.value) + static_cast<double>(pairs) * 0x1p-28 * exact.size) +
                    0x1p-149,
                exact.size);
          }
        }
      }
    }
  }
  require_within(quantity);
}

TEST_CASE("t5_relative_bias_backward: NaN reaches its bucket and head alone",
          "[train][t5][any-isa]") {
  T5Backward p({.max_distance = 20}, 9, 11, 110);
  p.run();
  const std::vector<float> clean = p.d_table;
  p.d_bias[at((1 * 9 + 2) * 11 + 5)] = NAN;
  p.run();
  const Index bucket = oracle::t5_bucket(3, T5Backward::kBuckets, p.options);
  for (Index i = 0; i < T5Backward::kBuckets * T5Backward::kHeads; ++i) {
    CAPTURE(i);
    const bool hit = i == bucket * T5Backward::kHeads + 1;
    CHECK((hit ? std::isnan(p.d_table[at(i)]) : p.d_table[at(i)] == clean[at(i)]));
  }
}

TEST_CASE("t5_relative_bias_backward: a table with gaps, and biases without elements",
          "[train][t5][any-isa]") {
  T5Backward p({.max_distance = 20}, 5, 6, 120);
  p.run();
  std::vector<float> wide = untouched(T5Backward::kBuckets * 5);
  TensorView<float> table(wide.data(), {T5Backward::kBuckets, T5Backward::kHeads});
  table.strides[0] = 5;
  require_ok(train::t5_relative_bias_backward({p.d_bias.data(), {3, 5, 6}}, table, p.options));
  CHECK(first_difference(p.d_table, values_of(table)) == "");
  CHECK(wide[3] == kUntouched);
  CHECK(wide[4] == kUntouched);
  for (const auto& [tq, tk] : {std::pair<Index, Index>{0, 6}, {5, 0}}) {
    require_ok(train::t5_relative_bias_backward({nullptr, {3, tq, tk}}, table, p.options));
    CHECK(values_of(table) == std::vector<float>(36, 0.0F));
  }
  require_ok(train::t5_relative_bias_backward({nullptr, {0, 5, 6}}, {nullptr, {12, 0}}, {}));
}

struct T5Call : Call {
  T5Call() : Call("t5_relative_bias_backward") { gather(); }
  Status run() override { return train::t5_relative_bias_backward(d_bias, d_table, options); }
  std::vector<Array> arrays() override {
    return {{"d_bias", d_bias, {2, kAny, kAny}},
            {"d_table", d_table, {kAny, kAny}, {.written = true}}};
  }
  std::vector<float> a = std::vector<float>(2 * 5 * 7, 0.5F), b = std::vector<float>(64, 0.5F);
  TensorView<const float> d_bias{a.data(), {2, 5, 7}};
  TensorView<float> d_table{b.data(), {32, 2}};
  T5Options options;
};

TEST_CASE("t5_relative_bias_backward: bad input is refused", "[train][bad-input]") {
  require_data_checked(correct<T5Call>);
  require_strides_checked(correct<T5Call>);
  require_overlaps_refused(correct<T5Call>);
  require_sharing_refused(correct<T5Call>);
  require_refused<T5Call>({
      {[](auto& c) { c.d_table = {}; }, kShapeError, "d_table is []", "[*,*]"},
      {[](auto& c) { c.d_bias = {}; }, kShapeError, "d_bias is []", "[2,*,*]"},
      {[](auto& c) { c.d_bias.shape[0] = 1; }, kShapeError, "d_bias is [1,5,7]", "[2,*,*]"},
      {[](auto& c) { c.d_table.shape[0] = 3; }, kShapeError, "d_table is [3,2]",
       "4 to 1024 rows, one for each bucket"},
      {[](auto& c) { c.options.max_distance = 8; }, kRange, "max_distance is 8", "9 to 1048576"},
      {[](auto& c) { c.options.offset = kMaxPosition + 1; }, kRange, "offset is 1048577",
       "at most 1048576 in magnitude"},
  });
}

// ----------------------------------------------------------------------------------- Transformer-XL

/// Numbers of a call in double precision, whose gradients are those of sum d_bias bias.
struct XlNumbers {
  std::array<Index, 5> size;  ///< B, H, Tq, Tk, d
  Doubles d_bias, q, r, v;

  /// f(g, position in q, in r, in v) for each factor of each pair.
  template <class F>
  void each(const F& f) const {
    const auto [batch, heads, tq, tk, d] = size;
    for (Index b = 0; b < batch; ++b) {
      for (Index h = 0; h < heads; ++h) {
        for (Index i = 0; i < tq; ++i) {
          for (Index j = 0; j < tk; ++j) {
            const double g = d_bias[at(((b * heads + h) * tq + i) * tk + j)];
            for (Index c = 0; c < d; ++c) {
              f(g, at(((b * heads + h) * tq + i) * d + c),
                at(((tq - 1 - i + j) * heads + h) * d + c), at(h * d + c));
            }
          }
        }
      }
    }
  }
};

/// A gradient, the sizes of its terms and how many there are.
struct XlGradient {
  Doubles value, size, terms;
  explicit XlGradient(const Doubles& like)
      : value(like.size()), size(like.size()), terms(like.size()) {}
  void add(std::size_t i, double term, double magnitude) {
    value[i] += term;
    size[i] += magnitude;
    terms[i] += 1.0;
  }
};

struct XlGradients {
  XlGradient dq, dr, dv;
  explicit XlGradients(const XlNumbers& n) : dq(n.q), dr(n.r), dv(n.v) {
    n.each([&](double g, std::size_t of_q, std::size_t of_r, std::size_t of_v) {
      const double r = g * n.r[of_r];
      dq.add(of_q, r, std::abs(r));
      dv.add(of_v, r, std::abs(r));
      dr.add(of_r, g * (n.q[of_q] + n.v[of_v]),
             std::abs(g) * (std::abs(n.q[of_q]) + std::abs(n.v[of_v])));
    });
  }
};

/// A call that owns its arrays.
struct XlBackward {
  XlBackward(std::array<Index, 5> sizes, std::uint64_t seed) : size(sizes) {
    const auto [batch, heads, tq, tk, d] = sizes;
    Random random(seed);
    d_bias = random_floats(random, batch * heads * tq * tk);
    q = random_floats(random, batch * heads * tq * d);
    r = random_floats(random, (tk + tq - 1) * heads * d);
    v = random_floats(random, heads * d);
    dq = untouched(batch * heads * tq * d);
    dr = untouched((tk + tq - 1) * heads * d);
    dv = untouched(heads * d);
  }
  [[nodiscard]] train::TransformerXlBackwardArgs args() {
    const auto [batch, heads, tq, tk, d] = size;
    return {.d_bias = {d_bias.data(), {batch, heads, tq, tk}},
            .q = {q.data(), {batch, heads, tq, d}},
            .r = {r.data(), {tk + tq - 1, heads * d}},
            .v = {v.data(), {heads, d}},
            .dq = {dq.data(), {batch, heads, tq, d}},
            .dr = {dr.data(), {tk + tq - 1, heads * d}},
            .dv = {dv.data(), {heads, d}}};
  }
  void run() { require_ok(train::transformer_xl_bias_backward(args())); }
  [[nodiscard]] XlNumbers numbers() const {
    return {size,
            {d_bias.begin(), d_bias.end()},
            {q.begin(), q.end()},
            {r.begin(), r.end()},
            {v.begin(), v.end()}};
  }
  /// transformer_xl_bias() of other arrays.
  [[nodiscard]] std::vector<float> bias(const std::vector<float>& of_q,
                                        const std::vector<float>& of_r,
                                        const std::vector<float>& of_v) {
    const train::TransformerXlBackwardArgs a = args();
    std::vector<float> to(d_bias.size());
    TensorView<const float> q_view = a.q;
    TensorView<const float> r_view = a.r;
    TensorView<const float> v_view = a.v;
    q_view.data = of_q.data();
    r_view.data = of_r.data();
    v_view.data = of_v.data();
    require_ok(transformer_xl_bias(q_view, r_view, v_view,
                                   {to.data(), {size[0], size[1], size[2], size[3]}}));
    return to;
  }

  std::array<Index, 5> size;
  std::vector<float> d_bias, q, r, v, dq, dr, dv;
};

Quantity compare(const char* name, const std::vector<float>& got, const XlGradient& exact) {
  Quantity quantity(std::string("transformer_xl_bias_backward ") + name);
  for (std::size_t i = 0; i < got.size(); ++i) {
    quantity.add(
        static_cast<double>(got[i]), exact.value[i],
        kU * (std::abs(exact.value[i]) + exact.terms[i] * 0x1p-27 * exact.size[i]) + 0x1p-149,
        exact.size[i]);
  }
  return quantity;
}

TEST_CASE("transformer_xl_bias_backward: every shape is within the bounds",
          "[train][transformer-xl][any-isa]") {
  std::uint64_t seed = 200;
  for (const Index d : {1, 3, 8, 63, 64, 65, 130}) {
    for (const auto& [tq, tk] : {std::pair<Index, Index>{1, 1}, {1, 9}, {9, 1}, {6, 6}, {5, 13}}) {
      CAPTURE(d, tq, tk);
      XlBackward p({2, 3, tq, tk, d}, seed++);
      p.run();
      const XlGradients exact(p.numbers());
      require_within(Comparison{{compare("dq", p.dq, exact.dq), compare("dr", p.dr, exact.dr),
                                 compare("dv", p.dv, exact.dv)}});
    }
  }
}

// The bias is linear in q + v and in r, so its derivative is the function itself.
TEST_CASE("transformer_xl_bias_backward: <J u, w> = <u, J^T w>",
          "[train][transformer-xl][any-isa]") {
  XlBackward p({2, 3, 7, 10, 20}, 310);
  p.run();
  Random random(311);
  const std::vector<float> of_q = random_floats(random, 2 * 3 * 7 * 20);
  const std::vector<float> of_r = random_floats(random, 16 * 3 * 20);
  const std::vector<float> of_v = random_floats(random, 3 * 20);
  const std::vector<float> no_q(of_q.size());
  const std::vector<float> no_v(of_v.size());
  const auto differ = [&](const std::vector<float>& bias, const std::vector<float>& u,
                          const std::vector<float>& gradient) {
    return std::abs(inner_product(bias, p.d_bias) - inner_product(u, gradient));
  };
  CHECK(differ(p.bias(of_q, p.r, no_v), of_q, p.dq) < 1e-3);
  CHECK(differ(p.bias(p.q, of_r, p.v), of_r, p.dr) < 1e-3);
  CHECK(differ(p.bias(no_q, p.r, of_v), of_v, p.dv) < 1e-3);
}

TEST_CASE("transformer_xl_bias_backward: pairs whose gradient is 0 add nothing, even NaN",
          "[train][transformer-xl][any-isa]") {
  constexpr Index kTokens = 5;
  XlBackward p({1, 1, kTokens, kTokens, 3}, 320);
  for (Index i = 0; i < kTokens; ++i) {
    for (Index j = i + 1; j < kTokens; ++j) {
      p.d_bias[at(i * kTokens + j)] = 0.0F;  // as causal attention leaves them
    }
  }
  p.run();
  const std::vector<float> dq = p.dq;
  const std::vector<float> dv = p.dv;
  std::fill(p.r.begin() + kTokens * 3, p.r.end(), NAN);  // distances to later keys
  p.run();
  CHECK(first_difference(dq, p.dq) == "");
  CHECK(first_difference(dv, p.dv) == "");
  for (std::size_t i = kTokens * 3; i < p.dr.size(); ++i) {
    CHECK(p.dr[i] == 0.0F);
  }
}

TEST_CASE("transformer_xl_bias_backward: each gradient may be left out, and changes no other",
          "[train][transformer-xl][any-isa]") {
  XlBackward all({2, 2, 4, 6, 70}, 330);
  all.run();
  for (int left_out = 0; left_out < 3; ++left_out) {
    CAPTURE(left_out);
    XlBackward p({2, 2, 4, 6, 70}, 330);
    train::TransformerXlBackwardArgs args = p.args();
    (left_out == 0 ? args.dq : left_out == 1 ? args.dr : args.dv) = {};
    require_ok(train::transformer_xl_bias_backward(args));
    CHECK((left_out == 0 || first_difference(all.dq, p.dq) == ""));
    CHECK((left_out == 1 || first_difference(all.dr, p.dr) == ""));
    CHECK((left_out == 2 || first_difference(all.dv, p.dv) == ""));
  }
}

TEST_CASE("transformer_xl_bias_backward: without pairs gradients are 0",
          "[train][transformer-xl][any-isa]") {
  XlBackward no_keys({1, 2, 3, 0, 4}, 340);
  no_keys.run();
  CHECK(no_keys.dq == std::vector<float>(24, 0.0F));
  CHECK(no_keys.dr == std::vector<float>(16, 0.0F));
  CHECK(no_keys.dv == std::vector<float>(8, 0.0F));
  XlBackward no_batch({0, 2, 3, 2, 4}, 341);
  no_batch.run();
  CHECK(no_batch.dr == std::vector<float>(32, 0.0F));
  CHECK(no_batch.dv == std::vector<float>(8, 0.0F));
  XlBackward one_number({0, 1, 1, 1, 1}, 342);
  one_number.run();
  CHECK(one_number.dr == std::vector<float>(1, 0.0F));
  CHECK(one_number.dv == std::vector<float>(1, 0.0F));
}

struct XlCall : Call, train::TransformerXlBackwardArgs {
  XlCall() : Call("transformer_xl_bias_backward"), problem({2, 3, 4, 5, 6}, 350) {
    static_cast<train::TransformerXlBackwardArgs&>(*this) = problem.args();
    gather();
  }
  Status run() override { return train::transformer_xl_bias_backward(*this); }
  std::vector<Array> arrays() override {
    return {{"q", q, {kAny, kAny, kAny, kAny}},
            {"d_bias", d_bias, {2, 3, 4, kAny}},
            {"r", r, {8, 18}},
            {"v", v, {3, 6}},
            {"dq", dq, {2, 3, 4, 6}, {.written = true, .optional = true}},
            {"dr", dr, {8, 18}, {.written = true, .optional = true}},
            {"dv", dv, {3, 6}, {.written = true, .optional = true}}};
  }
  XlBackward problem;
};

TEST_CASE("transformer_xl_bias_backward: arrays that do not fit are refused",
          "[train][bad-input]") {
  require_arrays_checked(correct<XlCall>);
  require_sharing_refused(correct<XlCall>);
  require_refused<XlCall>({
      {[](auto& c) { c.q.shape[3] = 0; }, kShapeError, "q is [2,3,4,0]", "d of at least 1"},
      {[](auto& c) { c.d_bias.shape[3] = 6; }, kShapeError, "r is [8,18]", "[9,18]"},
      {[](auto& c) { c.dr.shape[0] = 9; }, kShapeError, "dr is [9,18]", "[8,18]"},
  });
}

}  // namespace
}  // namespace qkv::test::relative_bias_backward_test
