// Spectra of the QK and OV circuits, against decompositions of the full products.
#include "qkv/circuits.hpp"

#include <Eigen/SVD>
#include <catch2/catch_test_macros.hpp>

#include "compare.hpp"
#include "position_oracle.hpp"
#include "problem.hpp"
#include "qkv/eigen.hpp"
#include "random.hpp"
#include "refusal.hpp"

namespace qkv::test::circuits_test {
namespace {

struct Matrix {
  Matrix(Index rows, Index columns, std::uint64_t seed) : shape{rows, columns} {
    Random random(seed);
    values = random_floats(random, rows * columns);
  }
  [[nodiscard]] TensorView<const float> view() const {
    return {values.data(), {shape[0], shape[1]}};
  }
  std::array<Index, 2> shape;
  std::vector<float> values;
};

Eigen::MatrixXd exact(const TensorView<const float>& matrix) {
  return as_matrix(matrix).cast<double>();
}

/// Of the product as it stands.
Eigen::VectorXd direct(const Eigen::MatrixXd& product) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(product).singularValues();
}

/// Of the factors.
Eigen::VectorXd spectrum(const TensorView<const float>& left,
                         const TensorView<const float>& right) {
  Workspace workspace;
  Eigen::VectorXd values(std::min({left.extent(0), left.extent(1), right.extent(1)}));
  require_ok(
      product_singular_values(left, right, {values.data(), to_size(values.size())}, workspace));
  CHECK(std::is_sorted(values.begin(), values.end(), std::greater<>()));
  return values;
}

double rank_of(const Eigen::VectorXd& values) {
  return effective_rank(std::span<const double>(values.data(), to_size(values.size())));
}

void compare(Quantity& error, const Eigen::VectorXd& computed, const Eigen::VectorXd& full,
             double bound) {
  REQUIRE(computed.size() <= full.size());
  for (Eigen::Index i = 0; i < full.size(); ++i) {
    error.add(i < computed.size() ? computed[i] : 0.0, full[i], bound);
  }
}

TEST_CASE("circuits: singular values of products of every shape", "[circuits][any-isa]") {
  Quantity error("product_singular_values");
  std::uint64_t seed = 1;
  for (Index m : {1, 3, 8, 40}) {
    for (Index k : {1, 2, 8, 17}) {
      for (Index n : {1, 5, 8, 33}) {
        CAPTURE(m, k, n);
        const Matrix left(m, k, seed++);
        const Matrix right(k, n, seed++);
        const auto computed = spectrum(left.view(), right.view());
        const Eigen::MatrixXd a = exact(left.view());
        const Eigen::MatrixXd b = exact(right.view());
        compare(error, computed, direct(a * b), bounds::singular_value(k, a.norm(), b.norm()));
      }
    }
  }
  require_within(error);
}

TEST_CASE("circuits: factors of low rank and factors that cancel", "[circuits][any-isa]") {
  Quantity error("product_singular_values deficient");
  Matrix left(20, 6, 2);
  Matrix right(6, 25, 3);
  for (std::size_t i = 0; i < 20; ++i) {
    left.values[i * 6 + 3] = left.values[i * 6];              // two equal columns
    left.values[i * 6 + 5] = 1e-6F * left.values[i * 6 + 1];  // and two almost so
  }
  const Eigen::MatrixXd a = exact(left.view());
  const Eigen::MatrixXd b = exact(right.view());
  const auto computed = spectrum(left.view(), right.view());
  compare(error, computed, direct(a * b), bounds::singular_value(6, a.norm(), b.norm()));
  CHECK(computed[4] < 1e-12 * computed[0]);
  // The columns of `left` cancel in the product.
  const TensorView<float> rows(right.values.data(), {6, 25});
  for (Index j = 0; j < 25; ++j) {
    *rows.at(3, j) = -*rows.at(0, j);
    for (Index i : {1, 2, 4, 5}) {
      *rows.at(i, j) = 0.0F;
    }
  }
  const auto none = spectrum(left.view(), right.view());
  compare(error, none, Eigen::VectorXd::Zero(20),
          bounds::singular_value(6, a.norm(), exact(right.view()).norm()));
  require_within(error);
}

TEST_CASE("circuits: effective rank of known spectra", "[circuits][any-isa]") {
  const auto rank = [](std::initializer_list<double> values) {
    return effective_rank(std::span<const double>(values.begin(), values.size()));
  };
  CHECK(rank({}) == 0.0);
  CHECK(rank({0.0, 0.0}) == 0.0);
  CHECK(rank({7.0}) == 1.0);
  CHECK(rank({7.0, 0.0, 0.0}) == 1.0);
  CHECK(std::abs(rank({2.0, 2.0, 2.0, 2.0}) - 4.0) < 1e-14);
  CHECK(std::abs(rank({3.0, 1.0}) - std::exp(0.75 * std::log(4.0 / 3.0) + 0.25 * std::log(4.0))) <
        1e-14);
  // The size of the matrix does not matter, and the smaller values pull it down.
  CHECK(std::abs(rank({3e9, 1e9}) - rank({3.0, 1.0})) < 1e-14);
  CHECK(rank({1.0, 0.9, 0.1}) < 3.0);
  CHECK(rank({1.0, 0.9, 0.1}) > 2.0);
}

/// Weights of a layer with groups of heads: 4 query heads over 2 of keys and values.
struct Layer {
  Layer() {
    config.d_model = 12;
    config.num_heads = 4;
    config.num_kv_heads = 2;
    config.d_k = 3;
    config.d_v = 5;
    config.d_context = 12;
    weights.wq = wq.view();
    weights.wk = wk.view();
    weights.wv = wv.view();
    weights.wo = wo.view();
  }
  MultiHeadAttentionConfig config;
  MultiHeadAttentionWeights weights;
  Matrix wq{12, 12, 4}, wk{12, 6, 5}, wv{12, 10, 6}, wo{20, 12, 7};
};

TEST_CASE("circuits: the circuits of a head are those of its columns and rows",
          "[circuits][any-isa]") {
  Quantity error("circuits");
  const Layer layer;
  for (Index h = 0; h < 4; ++h) {
    CAPTURE(h);
    const HeadWeights head = head_weights(layer.config, layer.weights, h);
    const Eigen::MatrixXd wq = exact(layer.wq.view()).middleCols(3 * h, 3);
    const Eigen::MatrixXd wk = exact(layer.wk.view()).middleCols(3 * (h / 2), 3);
    const Eigen::MatrixXd wv = exact(layer.wv.view()).middleCols(5 * (h / 2), 5);
    const Eigen::MatrixXd wo = exact(layer.wo.view()).middleRows(5 * h, 5);
    CHECK(exact(head.wq) == wq);
    CHECK(exact(head.wk) == wk);
    CHECK(exact(head.wv) == wv);
    CHECK(exact(head.wo) == wo);
    const Eigen::MatrixXd qk = wq * wk.transpose();
    const Eigen::MatrixXd ov = wv * wo;
    const auto qk_values = spectrum(head.wq, transposed(head.wk));
    const auto ov_values = spectrum(head.wv, head.wo);
    CHECK(qk_values.size() == 3);
    CHECK(ov_values.size() == 5);
    compare(error, qk_values, direct(qk), bounds::singular_value(3, wq.norm(), wk.norm()));
    compare(error, ov_values, direct(ov), bounds::singular_value(5, wv.norm(), wo.norm()));
    CHECK(std::abs(rank_of(qk_values) - rank_of(direct(qk))) < 1e-11);
    CHECK(rank_of(qk_values) <= 3.0);
    CHECK(rank_of(ov_values) > 1.0);
  }
  require_within(error);
}

TEST_CASE("circuits: both weight layouts and the fused matrix are the same heads",
          "[circuits][any-isa]") {
  const Layer layer;
  Matrix fused(12, 28, 8);
  for (Index i = 0; i < 12; ++i) {
    float* row = fused.values.data() + i * 28;
    std::copy_n(layer.weights.wq.at(i), 12, row);
    std::copy_n(layer.weights.wk.at(i), 6, row + 12);
    std::copy_n(layer.weights.wv.at(i), 10, row + 18);
  }
  const auto turned = [](const TensorView<const float>& matrix) {
    const RowMajorMatrix<float> copy = as_matrix(matrix).transpose();
    Matrix to(copy.rows(), copy.cols(), 0);
    std::copy_n(copy.data(), copy.size(), to.values.begin());
    return to;
  };
  const Matrix wq = turned(layer.wq.view());
  const Matrix wk = turned(layer.wk.view());
  const Matrix wv = turned(layer.wv.view());
  const Matrix wo = turned(layer.wo.view());
  const Matrix wqkv = turned(fused.view());
  MultiHeadAttentionConfig out_in = layer.config;
  out_in.weight_layout = WeightLayout::kOutIn;
  MultiHeadAttentionWeights separate_turned;
  separate_turned.wq = wq.view();
  separate_turned.wk = wk.view();
  separate_turned.wv = wv.view();
  separate_turned.wo = wo.view();
  MultiHeadAttentionWeights together;
  together.wqkv = fused.view();
  together.wo = layer.weights.wo;
  MultiHeadAttentionWeights together_turned;
  together_turned.wqkv = wqkv.view();
  together_turned.wo = wo.view();
  for (Index h = 0; h < 4; ++h) {
    CAPTURE(h);
    const HeadWeights expected = head_weights(layer.config, layer.weights, h);
    for (const HeadWeights& head :
         {head_weights(out_in, separate_turned, h), head_weights(layer.config, together, h),
          head_weights(out_in, together_turned, h)}) {
      CHECK(exact(head.wq) == exact(expected.wq));
      CHECK(exact(head.wk) == exact(expected.wk));
      CHECK(exact(head.wv) == exact(expected.wv));
      CHECK(exact(head.wo) == exact(expected.wo));
    }
  }
}

TEST_CASE("circuits: a head that copies one direction has rank 1", "[circuits][any-isa]") {
  const std::vector<float> column{1, 2, 3, 4};
  const std::vector<float> row{5, 6, 7};
  const auto values = spectrum({column.data(), {4, 1}}, {row.data(), {1, 3}});
  CHECK(values.size() == 1);
  CHECK(std::abs(values[0] - std::sqrt(30.0 * 110.0)) < 1e-12);
  CHECK(rank_of(values) == 1.0);
}

TEST_CASE("circuits: sizes of heads as they are in models", "[circuits][any-isa]") {
  Quantity error("product_singular_values of large heads");
  for (const auto& [m, k] : {std::pair<Index, Index>{128, 64}, {256, 128}}) {
    CAPTURE(m, k);
    const Matrix left(m, k, 21);
    const Matrix right(k, m, 22);
    const Eigen::MatrixXd a = exact(left.view());
    const Eigen::MatrixXd b = exact(right.view());
    const Eigen::VectorXd full = Eigen::BDCSVD<Eigen::MatrixXd>(a * b).singularValues();
    compare(error, spectrum(left.view(), right.view()), full,
            bounds::singular_value(k, a.norm(), b.norm()));
  }
  require_within(error);
}

/// Copies of a matrix's elements in memory with gaps, or column after column.
TensorView<const float> copied(std::vector<float>& to, const TensorView<const float>& from,
                               std::array<Index, 2> strides) {
  TensorView<float> view(to.data(), {from.extent(0), from.extent(1)});
  view.strides = {strides[0], strides[1]};
  for (Index i = 0; i < from.extent(0); ++i) {
    for (Index j = 0; j < from.extent(1); ++j) {
      *view.at(i, j) = *from.at(i, j);
    }
  }
  return view;
}

TEST_CASE("circuits: any strides give the same bits", "[circuits][strides][any-isa]") {
  const Matrix left(9, 4, 23);
  const Matrix right(4, 7, 24);
  const Eigen::VectorXd expected = spectrum(left.view(), right.view());
  std::vector<float> a(200, NAN);
  std::vector<float> b(200, NAN);
  CHECK(spectrum(copied(a, left.view(), {13, 2}), copied(b, right.view(), {1, 5})) == expected);

  // Columns that are one and the same.
  TensorView<const float> alike = left.view();
  alike.strides[1] = 0;
  Matrix repeated(9, 4, 23);
  for (Index i = 0; i < 9; ++i) {
    std::fill_n(repeated.values.begin() + i * 4, 4, *left.view().at(i, 0));
  }
  CHECK(spectrum(alike, right.view()) == spectrum(repeated.view(), right.view()));
}

TEST_CASE("circuits: what is not finite gives NaN, and extremes give numbers",
          "[circuits][any-isa]") {
  for (const float wrong : {NAN, INFINITY, -INFINITY}) {
    Matrix left(5, 3, 25);
    const Matrix right(3, 5, 26);
    left.values[7] = wrong;
    CHECK(spectrum(left.view(), right.view()).hasNaN());
    CHECK(std::isnan(rank_of(spectrum(left.view(), right.view()))));
    Matrix column(5, 1, 25);  // nothing else turns to NaN there
    column.values[3] = wrong;
    CHECK(std::isnan(spectrum(column.view(), Matrix(1, 5, 26).view())[0]));
  }
  for (const float size : {1e-45F, 1e-38F, 3e38F}) {
    CAPTURE(size);
    Matrix left(5, 3, 27);
    for (float& x : left.values) {
      x = x < 0 ? -size : size;
    }
    Matrix right = left;
    std::swap(right.shape[0], right.shape[1]);
    const Eigen::VectorXd values = spectrum(left.view(), right.view());
    CHECK(values[0] > 0.0);
    CHECK(std::isfinite(rank_of(values)));
  }
}

TEST_CASE("effective_rank: stacks of products are within the bound", "[circuits][any-isa]") {
  Quantity error("effective_rank");
  Workspace workspace;
  for (const auto& [m, k, n] : {std::array<Index, 3>{16, 4, 16}, {5, 8, 6}, {1, 1, 1}, {3, 7, 2}}) {
    CAPTURE(m, k, n);
    constexpr Index kMatrices = 3;
    const Matrix left(kMatrices * m, k, 31);
    const Matrix right(kMatrices * k, n, 32);
    std::vector<float> ranks(kMatrices, kUntouched);
    require_ok(effective_rank({left.values.data(), {kMatrices, m, k}},
                              {right.values.data(), {kMatrices, k, n}}, {ranks.data(), {kMatrices}},
                              workspace));
    for (Index i = 0; i < kMatrices; ++i) {
      const Eigen::MatrixXd a = exact(left.view()).middleRows(i * m, m);
      const Eigen::MatrixXd b = exact(right.view()).middleRows(i * k, k);
      const Eigen::VectorXd values = direct(a * b);
      double entropy = 0.0;
      for (const double value : values) {
        const double p = value / values.sum();
        entropy -= p > 0 ? p * std::log(p) : 0.0;
      }
      const double rank = std::exp(entropy);
      error.add(ranks[to_size(i)], rank,
                bounds::effective_rank(k, a.norm() * b.norm() / values.sum(), rank), rank);
    }
  }
  require_within(error);
}

TEST_CASE("effective_rank: nothing to multiply has rank 0, and no matrix no rank",
          "[circuits][any-isa]") {
  Workspace workspace;
  float rank = kUntouched;
  const float one = 1.0F;
  require_ok(effective_rank({nullptr, {1, 4, 0}}, {nullptr, {1, 0, 4}}, {&rank, {1}}, workspace));
  CHECK(rank == 0.0F);
  rank = kUntouched;
  require_ok(effective_rank({nullptr, {1, 0, 1}}, {&one, {1, 1, 1}}, {&rank, {1}}, workspace));
  CHECK(rank == 0.0F);
  require_ok(effective_rank({nullptr, {0, 4, 4}}, {nullptr, {0, 4, 4}}, {nullptr, {0}}, workspace));
}

TEST_CASE("effective_rank, product_singular_values: bad input is refused and nothing written",
          "[circuits][bad-input]") {
  const std::vector<float> floats(20, 1.0F);
  std::vector<double> values(4, 1.0);
  std::vector<float> ranks(2, kUntouched);
  Workspace workspace;
  TensorView<const float> backwards(floats.data(), {2, 2, 5});
  backwards.strides[2] = -1;
  require_refused(
      effective_rank({floats.data(), {2, 3, 2}}, backwards, {ranks.data(), {2}}, workspace),
      "effective_rank", {kInvalid, "right", "stride -1", "expected 1"});
  CHECK(ranks == std::vector<float>(2, kUntouched));
  require_refused(
      product_singular_values({floats.data(), {3, 4}}, {floats.data(), {4, 5}}, values, workspace),
      "product_singular_values", {kShapeError, "out", "is [4]", "[3]"});
  require_refused(
      product_singular_values({floats.data(), {3, 4}}, {floats.data(), {3, 4}}, values, workspace),
      "product_singular_values", {kShapeError, "right", "is [3,4]", "[4,*]"});
  CHECK(values == std::vector<double>(4, 1.0));
}

}  // namespace
}  // namespace qkv::test::circuits_test
