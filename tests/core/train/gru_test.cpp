// gru() and gru_backward() against the formulas in double precision.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "guarded.hpp"
#include "refusal.hpp"
#include "train_gru.hpp"

namespace qkv::test::gru_test {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// The gates of one unit, and the size of the sums that they are made of.
struct Unit {
  double r, z, n, un, size;
};

class ExactGru {
 public:
  ExactGru(const GruShape& shape, const GruNumbers& numbers) : s_(shape), a_(numbers) {}

  [[nodiscard]] Unit unit(Index b, Index t, const double* before, Index i) const {
    double sums[2][3] = {};
    double size = 0.0;
    for (Index gate = 0; gate < 3; ++gate) {
      const Index column = gate * s_.hidden + i;
      double own = 0.0;
      const auto add = [&](double& to, double term) {
        to += term;
        own += std::abs(term);
      };
      add(sums[0][gate], a_.bx[at(column)]);
      add(sums[1][gate], a_.bh[at(column)]);
      for (Index d = 0; d < s_.in; ++d) {
        add(sums[0][gate],
            a_.x[at((b * s_.tokens + t) * s_.in + d)] * a_.wx[at(d * 3 * s_.hidden + column)]);
      }
      for (Index d = 0; d < s_.hidden; ++d) {
        add(sums[1][gate], before[d] * a_.wh[at(d * 3 * s_.hidden + column)]);
      }
      size = std::max(size, own);
    }
    Unit u{};
    u.r = sigmoid(sums[0][0] + sums[1][0]);
    u.z = sigmoid(sums[0][1] + sums[1][1]);
    u.un = sums[1][2];
    u.n = std::tanh(sums[0][2] + u.r * u.un);
    u.size = size;
    return u;
  }

  /// h of every step, [B, T + 1, hidden], the first of them h0.
  [[nodiscard]] Doubles states() const {
    Doubles h(static_cast<std::size_t>(s_.batch * (s_.tokens + 1) * s_.hidden));
    for (Index b = 0; b < s_.batch; ++b) {
      double* row = h.data() + b * (s_.tokens + 1) * s_.hidden;
      std::copy_n(a_.h0.begin() + b * s_.hidden, s_.hidden, row);
      for (Index t = 0; t < s_.tokens; ++t) {
        for (Index i = 0; i < s_.hidden; ++i) {
          const Unit u = unit(b, t, row + t * s_.hidden, i);
          row[(t + 1) * s_.hidden + i] = (1 - u.z) * u.n + u.z * row[t * s_.hidden + i];
        }
      }
    }
    return h;
  }

  /// The gradients of sum d_out h.
  [[nodiscard]] GruNumbers gradients(const Doubles& d_out) const {
    const Doubles h = states();
    GruNumbers g{Doubles(a_.x.size()),  Doubles(a_.wx.size()), Doubles(a_.wh.size()),
                 Doubles(a_.bx.size()), Doubles(a_.bh.size()), Doubles(a_.h0.size())};
    for (Index b = 0; b < s_.batch; ++b) {
      Doubles carry(static_cast<std::size_t>(s_.hidden));
      for (Index t = s_.tokens - 1; t >= 0; --t) {
        const double* before = h.data() + (b * (s_.tokens + 1) + t) * s_.hidden;
        Doubles to_before(carry.size());
        for (Index i = 0; i < s_.hidden; ++i) {
          const Unit u = unit(b, t, before, i);
          const double d = carry[at(i)] + d_out[at((b * s_.tokens + t) * s_.hidden + i)];
          const double dn = d * (1 - u.z) * (1 - u.n * u.n);
          const double of_x[3] = {dn * u.un * u.r * (1 - u.r),
                                  d * (before[i] - u.n) * u.z * (1 - u.z), dn};
          const double of_h[3] = {of_x[0], of_x[1], dn * u.r};
          to_before[at(i)] += d * u.z;
          for (Index gate = 0; gate < 3; ++gate) {
            const Index column = gate * s_.hidden + i;
            g.bx[at(column)] += of_x[gate];
            g.bh[at(column)] += of_h[gate];
            for (Index e = 0; e < s_.in; ++e) {
              const auto x_at = at((b * s_.tokens + t) * s_.in + e);
              g.wx[at(e * 3 * s_.hidden + column)] += a_.x[x_at] * of_x[gate];
              g.x[x_at] += a_.wx[at(e * 3 * s_.hidden + column)] * of_x[gate];
            }
            for (Index e = 0; e < s_.hidden; ++e) {
              g.wh[at(e * 3 * s_.hidden + column)] += before[e] * of_h[gate];
              to_before[at(e)] += a_.wh[at(e * 3 * s_.hidden + column)] * of_h[gate];
            }
          }
        }
        carry = to_before;
      }
      std::copy(carry.begin(), carry.end(), g.h0.begin() + b * s_.hidden);
    }
    return g;
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  const GruShape s_;
  const GruNumbers& a_;
};

constexpr GruShape kShapes[] = {{1, 1, 1, 1}, {2, 5, 3, 4}, {3, 9, 8, 7}, {4, 6, 17, 33}};

TEST_CASE("gru: every step is within its bound of a step from the same h", "[train][gru]") {
  std::uint64_t seed = 1;
  for (const GruShape& s : kShapes) {
    CAPTURE(s.batch, s.tokens, s.in, s.hidden);
    GruProblem p(s, seed++);
    require_ok(train::gru(p.forward(), p.workspace));
    const GruNumbers numbers = p.numbers();
    const ExactGru exact(s, numbers);
    Quantity quantity("gru");
    for (Index b = 0; b < s.batch; ++b) {
      for (Index t = 0; t < s.tokens; ++t) {
        const float* from =
            t == 0 ? p.h0.data() + b * s.hidden : p.out.data() + (b * s.tokens + t - 1) * s.hidden;
        const Doubles before(from, from + s.hidden);
        for (Index i = 0; i < s.hidden; ++i) {
          const Unit u = exact.unit(b, t, before.data(), i);
          const double h = (1 - u.z) * u.n + u.z * before[static_cast<std::size_t>(i)];
          const auto d = static_cast<double>(std::max(s.in, s.hidden));
          quantity.add(static_cast<double>(
                           p.out[static_cast<std::size_t>((b * s.tokens + t) * s.hidden + i)]),
                       h, bounds::kU * (std::abs(h) + 4 + u.size * (d + 20)));
        }
      }
    }
    require_within(quantity);
  }
}

TEST_CASE("gru: without h0 it begins with zeros", "[train][gru]") {
  GruProblem zeros({2, 5, 3, 4}, 20);
  GruProblem absent({2, 5, 3, 4}, 20);
  std::fill(zeros.h0.begin(), zeros.h0.end(), 0.0F);
  require_ok(train::gru(zeros.forward(), zeros.workspace));
  train::GruArgs args = absent.forward();
  args.h0 = {};
  require_ok(train::gru(args, absent.workspace));
  CHECK(first_difference(zeros.out, absent.out) == "");
}

TEST_CASE("gru_backward: gradients are those of the formula", "[train][gru]") {
  std::uint64_t seed = 30;
  for (const GruShape& s : kShapes) {
    CAPTURE(s.batch, s.tokens, s.in, s.hidden);
    GruProblem p(s, seed++);
    require_ok(train::gru(p.forward(), p.workspace));
    require_ok(train::gru_backward(p.backward(), p.workspace));
    const GruNumbers numbers = p.numbers();
    const GruNumbers exact = ExactGru(s, numbers).gradients({p.d_out.begin(), p.d_out.end()});
    Comparison comparison;
    const auto compare = [&](const char* name, const std::vector<float>& got,
                             const Doubles& gradient) {
      Quantity quantity(std::string("gru_backward ") + name);
      double largest = 0.0;
      for (const double value : gradient) {
        largest = std::max(largest, std::abs(value));
      }
      // Each step adds its roundings to what the steps after it have handed on.
      const double bound =
          bounds::kU * largest * static_cast<double>(s.tokens * (s.in + s.hidden + 20) + s.batch);
      for (std::size_t i = 0; i < got.size(); ++i) {
        quantity.add(static_cast<double>(got[i]), gradient[i], bound, largest);
      }
      comparison.quantities.push_back(quantity);
    };
    compare("dx", p.dx, exact.x);
    compare("dwx", p.dwx, exact.wx);
    compare("dwh", p.dwh, exact.wh);
    compare("dbx", p.dbx, exact.bx);
    compare("dbh", p.dbh, exact.bh);
    compare("dh0", p.dh0, exact.h0);
    require_within(comparison);
  }
}

TEST_CASE("gru: a later token changes no earlier state and no earlier gradient", "[train][gru]") {
  GruProblem first({1, 8, 3, 5}, 70);
  GruProblem second({1, 8, 3, 5}, 70);
  std::fill(second.x.begin() + 5 * 3, second.x.end(), 0.25F);
  require_ok(train::gru(first.forward(), first.workspace));
  require_ok(train::gru(second.forward(), second.workspace));
  CHECK(std::equal(first.out.begin(), first.out.begin() + 5 * 5, second.out.begin()));
  CHECK(first.out[5 * 5] != second.out[5 * 5]);
}

TEST_CASE("gru_backward: reads nothing beside the states", "[train][gru]") {
  GruProblem p({2, 3, 4, 5}, 160);
  p.run();
  for (const Edge edge : {Edge::kBegin, Edge::kEnd}) {
    GruProblem guarded({2, 3, 4, 5}, 160);
    const Guarded out(p.out, edge);
    train::GruBackwardArgs args = guarded.backward();
    args.out.data = out.data();
    require_ok(train::gru_backward(args, guarded.workspace));
    CHECK(first_difference(guarded.dx, p.dx) == "");
    CHECK(first_difference(guarded.dwh, p.dwh) == "");
  }
}

TEST_CASE("gru_backward: without tokens or rows every gradient is 0", "[train][gru]") {
  for (const GruShape& s : {GruShape{2, 0, 3, 5}, GruShape{0, 4, 3, 5}}) {
    CAPTURE(s.batch, s.tokens);
    GruProblem p(s, 75);
    p.run();
    const std::vector<float> written = p.written();
    CHECK(written == std::vector<float>(written.size(), 0.0F));
  }
}

struct GruCall : Call, train::GruBackwardArgs {
  GruCall() : Call("gru_backward"), problem({2, 3, 4, 5}, 80) {
    require_ok(train::gru(problem.forward(), problem.workspace));
    static_cast<train::GruBackwardArgs&>(*this) = problem.backward();
    gather();
  }
  Status run() override { return train::gru_backward(*this, workspace); }
  std::vector<Array> arrays() override {
    const Demands dense{.dense = true};
    const Demands gradient{.written = true, .dense = true};
    const Demands optional{.written = true, .dense = true, .optional = true};
    return {
        {"wx", weights.wx, {4, 15}, dense}, {"bx", weights.bx, {15}, dense},
        {"bh", weights.bh, {15}, dense},    {"h0", h0, {2, 5}, {.dense = true, .optional = true}},
        {"d_out", d_out, {2, 3, 5}, dense}, {"out", out, {2, 3, 5}, dense},
        {"dx", dx, {2, 3, 4}, optional},    {"dh0", dh0, {2, 5}, optional},
        {"dwx", dwx, {4, 15}, gradient},    {"dwh", dwh, {5, 15}, gradient},
        {"dbx", dbx, {15}, gradient},       {"dbh", dbh, {15}, gradient}};
  }
  GruProblem problem;
};

TEST_CASE("gru_backward: arrays that do not fit are refused", "[train][gru][bad-input]") {
  require_arrays_checked(correct<GruCall>);
  require_sharing_refused(correct<GruCall>);
  require_refused<GruCall>({
      {[](auto& c) { c.weights.wh.shape = {0, 15, 0, 0}; }, kShapeError,
       "x is [2,3,4] and wh [0,15]", "widths of at least 1"},
      {[](auto& c) { c.x = {c.x.data, {2, 3, 0}}; }, kShapeError, "x is [2,3,0] and wh [5,15]",
       "widths of at least 1"},
      {[](auto& c) { c.weights.wh = {c.weights.wh.data, {5, 14}}; }, kShapeError, "wh is [5,14]",
       "[5,15]"},
  });
}

}  // namespace
}  // namespace qkv::test::gru_test
