// A gated recurrent unit that owns its arrays, forward and backward.
#pragma once

#include <vector>

#include "problem.hpp"
#include "qkv/train/gru.hpp"

namespace qkv::test {

using Doubles = std::vector<double>;

struct GruShape {
  Index batch, tokens, in, hidden;
};

/// Numbers of a call in double precision.
struct GruNumbers {
  Doubles x, wx, wh, bx, bh, h0;
};

/// A call that owns its arrays.
struct GruProblem {
  GruProblem(const GruShape& shape, std::uint64_t seed) : s(shape) {
    Random random(seed);
    const Index gates = 3 * s.hidden;
    x = random_floats(random, s.batch * s.tokens * s.in);
    wx = random_floats(random, s.in * gates, 1.0F);
    wh = random_floats(random, s.hidden * gates, 0.6F);
    bx = random_floats(random, gates, 0.5F);
    bh = random_floats(random, gates, 0.5F);
    h0 = random_floats(random, s.batch * s.hidden, 0.9F);
    d_out = random_floats(random, s.batch * s.tokens * s.hidden);
    out.assign(d_out.size(), kUntouched);
    dx.assign(x.size(), kUntouched);
    dwx.assign(wx.size(), kUntouched);
    dwh.assign(wh.size(), kUntouched);
    dbx.assign(bx.size(), kUntouched);
    dbh.assign(bh.size(), kUntouched);
    dh0.assign(h0.size(), kUntouched);
  }
  [[nodiscard]] train::GruWeights weights() const {
    const Index gates = 3 * s.hidden;
    return {{wx.data(), {s.in, gates}},
            {wh.data(), {s.hidden, gates}},
            {bx.data(), {gates}},
            {bh.data(), {gates}}};
  }
  [[nodiscard]] train::GruArgs forward() {
    train::GruArgs args;
    args.x = {x.data(), {s.batch, s.tokens, s.in}};
    args.weights = weights();
    args.h0 = {h0.data(), {s.batch, s.hidden}};
    args.out = {out.data(), {s.batch, s.tokens, s.hidden}};
    return args;
  }
  [[nodiscard]] train::GruBackwardArgs backward() {
    const Index gates = 3 * s.hidden;
    train::GruBackwardArgs args;
    args.d_out = {d_out.data(), {s.batch, s.tokens, s.hidden}};
    args.x = {x.data(), {s.batch, s.tokens, s.in}};
    args.weights = weights();
    args.h0 = {h0.data(), {s.batch, s.hidden}};
    args.out = {out.data(), {s.batch, s.tokens, s.hidden}};
    args.dx = {dx.data(), {s.batch, s.tokens, s.in}};
    args.dh0 = {dh0.data(), {s.batch, s.hidden}};
    args.dwx = {dwx.data(), {s.in, gates}};
    args.dwh = {dwh.data(), {s.hidden, gates}};
    args.dbx = {dbx.data(), {gates}};
    args.dbh = {dbh.data(), {gates}};
    return args;
  }
  [[nodiscard]] GruNumbers numbers() const {
    return {{x.begin(), x.end()},   {wx.begin(), wx.end()}, {wh.begin(), wh.end()},
            {bx.begin(), bx.end()}, {bh.begin(), bh.end()}, {h0.begin(), h0.end()}};
  }

  /// Forward, then backward.
  void run() {
    require_ok(train::gru(forward(), workspace));
    require_ok(train::gru_backward(backward(), workspace));
  }
  /// All that they write.
  [[nodiscard]] std::vector<float> written() const {
    return joined({&out, &dx, &dwx, &dwh, &dbx, &dbh, &dh0});
  }

  GruShape s;
  Workspace workspace;
  std::vector<float> x, wx, wh, bx, bh, h0, d_out, out, dx, dwx, dwh, dbx, dbh, dh0;
};

}  // namespace qkv::test
