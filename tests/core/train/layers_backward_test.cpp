// Gradients of linear maps, norms, embeddings and rotary positions against the formulas in double precision.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "problem.hpp"
#include "qkv/train/embedding.hpp"
#include "qkv/train/linear.hpp"
#include "qkv/train/norm.hpp"

namespace qkv::test::layers_backward_test {
namespace {

constexpr double kU = bounds::kU;

std::vector<float> untouched(Index n) {
  return std::vector<float>(static_cast<std::size_t>(n), kUntouched);
}

std::vector<double> widened(const std::vector<float>& x) { return {x.begin(), x.end()}; }

// ----------------------------------------------------------------------------------------- linear

struct LinearGradients {
  std::vector<float> dx, dw, d_bias;
};

struct LinearBackward {
  LinearBackward(Index row_count, Index width, Index columns, WeightLayout stored,
                 std::uint64_t seed)
      : rows(row_count), in(width), out(columns), layout(stored) {
    Random random(seed);
    x = random_floats(random, rows * in);
    w = random_floats(random, in * out);
    d_out = random_floats(random, rows * out);
  }
  LinearGradients run(Workspace& workspace) {
    LinearGradients to{untouched(rows * in), untouched(in * out), untouched(out)};
    const bool in_out = layout == WeightLayout::kInOut;
    const std::initializer_list<Index> shape_in_out = {in, out};
    const std::initializer_list<Index> shape_out_in = {out, in};
    train::LinearBackwardArgs args;
    args.d_out = {d_out.data(), {rows, out}};
    args.x = {x.data(), {rows, in}};
    args.w = {w.data(), in_out ? shape_in_out : shape_out_in};
    args.layout = layout;
    args.dx = {to.dx.data(), {rows, in}};
    args.dw = {to.dw.data(), in_out ? shape_in_out : shape_out_in};
    args.d_bias = {to.d_bias.data(), {out}};
    require_ok(train::linear_backward(args, workspace));
    return to;
  }
  /// Element [i, o] of an [in, out] matrix in this layout.
  [[nodiscard]] std::size_t at(Index i, Index o) const {
    return static_cast<std::size_t>(layout == WeightLayout::kInOut ? i * out + o : o * in + i);
  }
  void check() {
    Workspace workspace;
    const LinearGradients got = run(workspace);
    Quantity dx("linear_backward dx");
    Quantity dw("linear_backward dw");
    Quantity db("linear_backward d_bias");
    const auto dy = [&](Index r, Index o) {
      return static_cast<double>(d_out[static_cast<std::size_t>(r * out + o)]);
    };
    const auto of_x = [&](Index r, Index i) {
      return static_cast<double>(x[static_cast<std::size_t>(r * in + i)]);
    };
    for (Index r = 0; r < rows; ++r) {
      for (Index i = 0; i < in; ++i) {
        double sum = 0.0;
        double size = 0.0;
        for (Index o = 0; o < out; ++o) {
          const double product = dy(r, o) * static_cast<double>(w[at(i, o)]);
          sum += product;
          size += std::abs(product);
        }
        dx.add(static_cast<double>(got.dx[static_cast<std::size_t>(r * in + i)]), sum,
               kU * static_cast<double>(out + 2) * size, size);
      }
    }
    for (Index o = 0; o < out; ++o) {
      double bias = 0.0;
      double bias_size = 0.0;
      for (Index r = 0; r < rows; ++r) {
        bias += dy(r, o);
        bias_size += std::abs(dy(r, o));
      }
      db.add(static_cast<double>(got.d_bias[static_cast<std::size_t>(o)]), bias,
             kU * (bias_size * 0x1p-20 + std::abs(bias)) + 0x1p-149, bias_size);
      for (Index i = 0; i < in; ++i) {
        double sum = 0.0;
        double size = 0.0;
        for (Index r = 0; r < rows; ++r) {
          sum += of_x(r, i) * dy(r, o);
          size += std::abs(of_x(r, i) * dy(r, o));
        }
        dw.add(static_cast<double>(got.dw[at(i, o)]), sum,
               kU * static_cast<double>(rows + 2) * size, size);
      }
    }
    require_within(Comparison{{dx, dw, db}});
  }

  Index rows, in, out;
  WeightLayout layout;
  std::vector<float> x, w, d_out;
};

TEST_CASE("linear_backward: every size and layout is within the bounds", "[train]") {
  std::uint64_t seed = 1;
  for (const WeightLayout layout : {WeightLayout::kInOut, WeightLayout::kOutIn}) {
    for (const Index rows : {1, 5, 64, 130}) {
      for (const Index in : {1, 7, 33}) {
        for (const Index out : {1, 8, 65}) {
          CAPTURE(static_cast<int>(layout), rows, in, out);
          LinearBackward(rows, in, out, layout, seed++).check();
        }
      }
    }
  }
}

TEST_CASE("linear_backward: more rows of c than one group, and no row at all", "[train]") {
  LinearBackward(3, 500, 9, WeightLayout::kInOut, 50).check();
  LinearBackward none(0, 4, 5, WeightLayout::kInOut, 51);
  Workspace workspace;
  const LinearGradients got = none.run(workspace);
  CHECK(got.dw == std::vector<float>(20, 0.0F));
  CHECK(got.d_bias == std::vector<float>(5, 0.0F));
}

TEST_CASE("linear_backward: the gradient of the bias alone takes no scratch", "[train]") {
  const std::vector<float> numbers(12, 1.5F);
  std::vector<float> d_bias(4, kUntouched);
  train::LinearBackwardArgs args;
  args.d_out = {numbers.data(), {3, 4}};
  args.x = {numbers.data(), {3, 2}};
  args.w = {numbers.data(), {2, 4}};
  args.d_bias = {d_bias.data(), {4}};
  Workspace workspace;
  require_ok(train::linear_backward(args, workspace));
  CHECK(d_bias == std::vector<float>(4, 4.5F));
  CHECK(workspace.capacity_bytes() == 0);
}

// ------------------------------------------------------------------------------------------ norms

struct NormBackward {
  NormBackward(bool of_layer, Index row_count, Index width, std::uint64_t seed)
      : layer(of_layer), rows(row_count), n(width) {
    Random random(seed);
    x = random_floats(random, rows * n);
    gamma = random_floats(random, n, 2.0F);
    d_out = random_floats(random, rows * n);
  }

  struct Got {
    std::vector<float> dx, d_gamma, d_beta;
  };
  Got run(Workspace& workspace) {
    Got to{untouched(rows * n), untouched(n), untouched(n)};
    train::NormBackwardArgs args;
    args.d_out = {d_out.data(), {rows, n}};
    args.x = {x.data(), {rows, n}};
    args.gamma = {gamma.data(), {n}};
    args.dx = {to.dx.data(), {rows, n}};
    args.d_gamma = {to.d_gamma.data(), {n}};
    if (layer) {
      args.d_beta = {to.d_beta.data(), {n}};
    }
    require_ok(layer ? train::layer_norm_backward(args, workspace)
                     : train::rms_norm_backward(args, workspace));
    return to;
  }

  /// z and s of a row.
  struct Row {
    std::vector<double> z;
    double s, mean;
  };
  [[nodiscard]] Row normalized(const std::vector<double>& from, Index row) const {
    Row of{{}, 0.0, 0.0};
    const auto* const x_row = from.data() + row * n;
    const auto count = static_cast<double>(n);
    of.mean = layer ? std::accumulate(x_row, x_row + n, 0.0) / count : 0.0;
    double squares = 0.0;
    for (Index i = 0; i < n; ++i) {
      squares += (x_row[i] - of.mean) * (x_row[i] - of.mean);
    }
    of.s = std::sqrt(squares / count + 1e-5F);
    for (Index i = 0; i < n; ++i) {
      of.z.push_back((x_row[i] - of.mean) / of.s);
    }
    return of;
  }
  [[nodiscard]] double g(Index row, Index i) const {
    return static_cast<double>(d_out[static_cast<std::size_t>(row * n + i)]) *
           static_cast<double>(gamma[static_cast<std::size_t>(i)]);
  }
  /// Of a row, and the sizes of the bound.
  [[nodiscard]] std::pair<std::vector<double>, std::vector<double>> exact(Index row) const {
    const Row of = normalized(widened(x), row);
    double mean_g = 0.0;
    double mean_gz = 0.0;
    double mean_size = 0.0;
    double gz_size = 0.0;
    double largest = 0.0;
    for (Index i = 0; i < n; ++i) {
      const double z = of.z[static_cast<std::size_t>(i)];
      mean_g += g(row, i) / static_cast<double>(n);
      mean_gz += g(row, i) * z / static_cast<double>(n);
      mean_size += std::abs(g(row, i)) / static_cast<double>(n);
      gz_size += std::abs(g(row, i) * z) / static_cast<double>(n);
      largest = std::max(largest, std::abs(g(row, i)));
    }
    std::pair<std::vector<double>, std::vector<double>> to;
    for (Index i = 0; i < n; ++i) {
      const double z = of.z[static_cast<std::size_t>(i)];
      to.first.push_back((g(row, i) - (layer ? mean_g : 0.0) - z * mean_gz) / of.s);
      const double spread = std::abs(g(row, i)) + mean_size + std::abs(z) * gz_size;
      to.second.push_back((40 + 40 * std::abs(z)) * (spread + (1 + std::abs(z)) * largest) / of.s);
    }
    return to;
  }
  void check() {
    Workspace workspace;
    const Got got = run(workspace);
    const std::string name = layer ? "layer_norm_backward " : "rms_norm_backward ";
    Quantity dx(name + "dx");
    Quantity dg(name + "d_gamma");
    Quantity db(name + "d_beta");
    std::vector<double> gammas(static_cast<std::size_t>(n)), betas(gammas), sizes(gammas),
        plain(gammas);
    const double partial = 64 + static_cast<double>(rows) / 64;
    for (Index row = 0; row < rows; ++row) {
      const Row of = normalized(widened(x), row);
      const double q = kU * std::abs(of.mean) / of.s;
      const double far = (1 + 2 * q) * (1 + 2 * q);
      const auto [value, size] = exact(row);
      for (Index i = 0; i < n; ++i) {
        const auto c = static_cast<std::size_t>(i);
        const auto at = static_cast<std::size_t>(row * n + i);
        dx.add(static_cast<double>(got.dx[at]), value[c], kU * far * size[c] + 0x1p-140, size[c]);
        const auto dy = static_cast<double>(d_out[at]);
        gammas[c] += dy * of.z[c];
        betas[c] += dy;
        plain[c] += std::abs(dy);
        sizes[c] +=
            std::abs(dy) * (26 + 26 * std::abs(of.z[c]) + partial * std::abs(of.z[c])) * far;
      }
    }
    for (std::size_t i = 0; i < gammas.size(); ++i) {
      dg.add(static_cast<double>(got.d_gamma[i]), gammas[i], kU * sizes[i], sizes[i]);
      db.add(static_cast<double>(got.d_beta[i]), layer ? betas[i] : static_cast<double>(kUntouched),
             kU * (partial + 2) * plain[i], plain[i]);
    }
    require_within(layer ? Comparison{{dx, dg, db}} : Comparison{{dx, dg}});
  }

  bool layer;
  Index rows, n;
  std::vector<float> x, gamma, d_out;
};

TEST_CASE("layer_norm_backward, rms_norm_backward: every size is within the bounds", "[train]") {
  std::uint64_t seed = 100;
  for (const bool layer : {true, false}) {
    for (const Index rows : {1, 3, 64, 65, 200}) {
      for (const Index n : {2, 7, 64, 65}) {
        CAPTURE(layer, rows, n);
        NormBackward(layer, rows, n, seed++).check();
      }
    }
  }
}

TEST_CASE("layer_norm_backward, rms_norm_backward: rows of any magnitude", "[train]") {
  for (const bool layer : {true, false}) {
    for (const float factor : {1e-25F, 1e-3F, 1e25F}) {
      CAPTURE(layer, factor);
      NormBackward p(layer, 4, 33, 200);
      for (float& value : p.x) {
        value *= factor;
      }
      p.check();
    }
  }
}

TEST_CASE("layer_norm_backward: a constant row has gradient 0 and leaves others alone", "[train]") {
  NormBackward p(true, 3, 8, 400);
  std::fill_n(p.x.begin() + 8, 8, 3.0F);
  Workspace workspace;
  const NormBackward::Got got = p.run(workspace);
  for (const float value : got.dx) {
    CHECK(std::isfinite(value));
  }
}

// ---------------------------------------------------------------------------------- embeddings

TEST_CASE("embedding_backward: rows add up in the order of tokens, others are 0", "[train]") {
  const std::vector<std::int32_t> ids = {2, 0, 2, 2, 5};
  Random random(500);
  const std::vector<float> d_out = random_floats(random, 5 * 3);
  std::vector<float> d_table = untouched(6 * 3);
  require_ok(train::embedding_backward({d_out.data(), {5, 3}}, {ids.data(), {5}},
                                       {d_table.data(), {6, 3}}));
  for (std::size_t d = 0; d < 3; ++d) {
    CHECK(d_table[2 * 3 + d] == ((0.0F + d_out[d]) + d_out[6 + d]) + d_out[9 + d]);
    CHECK(d_table[5 * 3 + d] == d_out[12 + d]);
    CHECK(d_table[3 + d] == 0.0F);
  }
}

TEST_CASE("rotary_embedding_backward: <R u, w> = <u, R^T w>, and R^T R = 1", "[train]") {
  for (const bool interleaved : {false, true}) {
    CAPTURE(interleaved);
    Random random(600);
    const Index count = 2 * 3 * 17 * 10;
    const std::vector<float> u = random_floats(random, count);
    const std::vector<float> w = random_floats(random, count);
    std::vector<float> turned = untouched(count);
    std::vector<float> back = untouched(count);
    std::vector<float> again = untouched(count);
    RotaryOptions options;
    options.interleaved = interleaved;
    options.offset = 40;
    options.rotary_dim = 8;
    Workspace workspace;
    const auto view = [](auto* data) {
      return TensorView<std::remove_pointer_t<decltype(data)>>(data, {2, 3, 17, 10});
    };
    require_ok(rotary_embedding(view(u.data()), view(turned.data()), options, workspace));
    require_ok(
        train::rotary_embedding_backward(view(w.data()), view(back.data()), options, workspace));
    require_ok(train::rotary_embedding_backward(view(std::as_const(turned).data()),
                                                view(again.data()), options, workspace));
    double left = 0.0;
    double right = 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      left += static_cast<double>(turned[i]) * static_cast<double>(w[i]);
      right += static_cast<double>(u[i]) * static_cast<double>(back[i]);
      CHECK(std::abs(again[i] - u[i]) <=
            8e-7F);  // twice the bound of a rotation of numbers below 2
    }
    CHECK(std::abs(left - right) < 1e-5 * static_cast<double>(count) / 100);
  }
}

}  // namespace
}  // namespace qkv::test::layers_backward_test
