// Singular values of products, against decompositions of the whole products and spectra that are known.
#include <catch2/catch_test_macros.hpp>

#include "compare.hpp"
#include "position_oracle.hpp"
#include "qkv/circuits.hpp"
#include "spectra_problem.hpp"

namespace qkv::test::singular_values_test {
namespace {

/// Of the product as it stands.
Eigen::VectorXd direct(const Eigen::MatrixXd& product) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(product).singularValues();
}

/// Of the factors.
Eigen::VectorXd spectrum(const TensorView<const float>& left,
                         const TensorView<const float>& right) {
  Workspace workspace;
  const WithinArena within;
  Eigen::VectorXf values(std::min({left.extent(0), left.extent(1), right.extent(1)}));
  require_ok(singular_values(alone(left), alone(right),
                             {.values = {values.data(), {1, values.size()}}}, workspace));
  CHECK(std::is_sorted(values.begin(), values.end(), std::greater<>()));
  CHECK(within.holds());
  return values.cast<double>();
}

double rank_of(const Eigen::VectorXd& values) {
  return effective_rank(std::span<const double>(values.data(), to_size(values.size())));
}

void compare(Quantity& error, const Eigen::VectorXd& computed, const Eigen::VectorXd& full, Index k,
             double sizes) {
  REQUIRE(computed.size() <= full.size());
  for (Eigen::Index i = 0; i < full.size(); ++i) {
    error.add(i < computed.size() ? computed[i] : 0.0, full[i],
              bounds::singular_value(k, full[i], sizes));
  }
}

/// The vectors of one product, and what they multiply to.
struct Vectors {
  Vectors(const TensorView<const float>& a, const TensorView<const float>& b)
      : r(std::min({a.extent(0), a.extent(1), b.extent(1)})),
        values(r),
        left(a.extent(0), r),
        right(b.extent(1), r) {
    Workspace workspace;
    const WithinArena within;
    require_ok(singular_values(alone(a), alone(b),
                               {.values = {values.data(), {1, r}},
                                .left = alone(as_view(left)),
                                .right = alone(as_view(right))},
                               workspace));
    CHECK(within.holds());
  }
  [[nodiscard]] Eigen::MatrixXd product() const {
    return left.cast<double>() * values.cast<double>().asDiagonal() *
           right.cast<double>().transpose();
  }
  Index r;
  Eigen::VectorXf values;
  RowMajorMatrix<float> left, right;
};

TEST_CASE("singular_values: products of every shape", "[spectra]") {
  Quantity error("singular_values");
  Quantity rebuilt("singular_values vectors");
  std::uint64_t seed = 1;
  for (Index m : {1, 3, 8, 40}) {
    for (Index k : {1, 2, 8, 17}) {
      for (Index n : {1, 5, 8, 33}) {
        CAPTURE(m, k, n);
        const FloatMatrix left(m, k, seed++);
        const FloatMatrix right(k, n, seed++);
        const Eigen::MatrixXd a = exact(left.view());
        const Eigen::MatrixXd b = exact(right.view());
        const double sizes = a.norm() * b.norm();
        const auto computed = spectrum(left.view(), right.view());
        compare(error, computed, direct(a * b), k, sizes);
        const Vectors vectors(left.view(), right.view());
        CHECK(vectors.values.cast<double>() == computed);
        const Eigen::MatrixXd product = vectors.product();
        const Eigen::MatrixXd expected = a * b;
        for (Index i = 0; i < product.size(); ++i) {
          rebuilt.add(product.data()[i], expected.data()[i],
                      bounds::singular_vectors(k, vectors.r, sizes), sizes);
        }
        for (const auto& columns : {vectors.left, vectors.right}) {
          const Eigen::MatrixXd of = columns.cast<double>();
          CHECK((of.transpose() * of).isIdentity(1e-6));
        }
        for (Index j = 0; j < vectors.r; ++j) {
          Index most = 0;
          vectors.left.col(j).cwiseAbs().maxCoeff(&most);
          CHECK(vectors.left(most, j) > 0.0F);
        }
      }
    }
  }
  require_within(error);
  require_within(rebuilt);
}

TEST_CASE("singular_values: a spectrum that the factors are made of", "[spectra]") {
  const Eigen::Vector4d given(8.0, 2.0, 0.5, 0.125);
  const Eigen::MatrixXd u = orthogonal(30, 4, 41);
  const Eigen::MatrixXd v = orthogonal(20, 4, 42);
  const FloatMatrix left(u * given.cwiseSqrt().asDiagonal());
  const FloatMatrix right(given.cwiseSqrt().asDiagonal() * v.transpose());
  const Vectors found(left.view(), right.view());
  for (Index i = 0; i < 4; ++i) {
    CHECK(std::abs(found.values[i] - given[i]) < 1e-6 * given[0]);
    // A direction has two signs.
    CHECK(std::abs(std::abs(found.left.col(i).cast<double>().dot(u.col(i))) - 1.0) < 1e-6);
    CHECK(std::abs(std::abs(found.right.col(i).cast<double>().dot(v.col(i))) - 1.0) < 1e-6);
  }
}

TEST_CASE("singular_values: factors of low rank and factors that cancel", "[spectra]") {
  Quantity error("singular_values deficient");
  FloatMatrix left(20, 6, 2);
  FloatMatrix right(6, 25, 3);
  for (std::size_t i = 0; i < 20; ++i) {
    left.values[i * 6 + 3] = left.values[i * 6];              // two equal columns
    left.values[i * 6 + 5] = 1e-6F * left.values[i * 6 + 1];  // and two almost so
  }
  const Eigen::MatrixXd a = exact(left.view());
  const Eigen::MatrixXd b = exact(right.view());
  const auto computed = spectrum(left.view(), right.view());
  compare(error, computed, direct(a * b), 6, a.norm() * b.norm());
  CHECK(computed[4] < 1e-12 * computed[0]);
  const Eigen::MatrixXd u = Vectors(left.view(), right.view()).left.cast<double>();
  CHECK((u.transpose() * u).isIdentity(1e-6));
  // The columns of `left` cancel in the product.
  const TensorView<float> rows(right.values.data(), {6, 25});
  for (Index j = 0; j < 25; ++j) {
    *rows.at(3, j) = -*rows.at(0, j);
    for (Index i : {1, 2, 4, 5}) {
      *rows.at(i, j) = 0.0F;
    }
  }
  const auto none = spectrum(left.view(), right.view());
  compare(error, none, Eigen::VectorXd::Zero(20), 6, a.norm() * exact(right.view()).norm());
  require_within(error);
}

TEST_CASE("effective_rank: known spectra", "[spectra]") {
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

TEST_CASE("singular_values: the circuits of a head of a layer", "[spectra]") {
  Quantity error("singular_values of circuits");
  const FloatMatrix wq(12, 12, 4), wk(12, 6, 5), wv(12, 10, 6), wo(20, 12, 7);
  const MultiHeadAttentionConfig config{
      .d_model = 12, .num_heads = 4, .num_kv_heads = 2, .d_k = 3, .d_v = 5, .d_context = 12};
  MultiHeadAttentionWeights weights;
  weights.wq = wq.view();
  weights.wk = wk.view();
  weights.wv = wv.view();
  weights.wo = wo.view();
  for (Index h = 0; h < 4; ++h) {
    CAPTURE(h);
    const HeadWeights head = head_weights(config, weights, h);
    const Eigen::MatrixXd qk = exact(head.wq) * exact(head.wk).transpose();
    const Eigen::MatrixXd ov = exact(head.wv) * exact(head.wo);
    const auto qk_values = spectrum(head.wq, transposed(head.wk));
    const auto ov_values = spectrum(head.wv, head.wo);
    CHECK(qk_values.size() == 3);
    CHECK(ov_values.size() == 5);
    compare(error, qk_values, direct(qk), 3, exact(head.wq).norm() * exact(head.wk).norm());
    compare(error, ov_values, direct(ov), 5, exact(head.wv).norm() * exact(head.wo).norm());
    CHECK(std::abs(rank_of(qk_values) - rank_of(direct(qk))) < 1e-6);
    CHECK(rank_of(qk_values) <= 3.0);
    CHECK(rank_of(ov_values) > 1.0);
  }
  require_within(error);
}

TEST_CASE("singular_values: a head that copies one direction has rank 1", "[spectra]") {
  const std::vector<float> column{1, 2, 3, 4};
  const std::vector<float> row{5, 6, 7};
  const auto values = spectrum({column.data(), {4, 1}}, {row.data(), {1, 3}});
  CHECK(values.size() == 1);
  CHECK(values[0] == static_cast<float>(std::sqrt(30.0 * 110.0)));
  CHECK(rank_of(values) == 1.0);
}

TEST_CASE("singular_values: sizes of heads as they are in models", "[spectra]") {
  Quantity error("singular_values of large heads");
  for (const auto& [m, k] : {std::pair<Index, Index>{128, 64}, {256, 128}}) {
    CAPTURE(m, k);
    const FloatMatrix left(m, k, 21);
    const FloatMatrix right(k, m, 22);
    const Eigen::MatrixXd a = exact(left.view());
    const Eigen::MatrixXd b = exact(right.view());
    const Eigen::VectorXd full = Eigen::JacobiSVD<Eigen::MatrixXd>(a * b).singularValues();
    const Vectors found(left.view(), right.view());  // also for the memory that it takes
    compare(error, found.values.cast<double>(), full, k, a.norm() * b.norm());
    CHECK((found.product() - a * b).norm() < 1e-6 * (a * b).norm());
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

TEST_CASE("singular_values: any strides give the same bits", "[spectra][strides]") {
  const FloatMatrix left(9, 4, 23);
  const FloatMatrix right(4, 7, 24);
  const Eigen::VectorXd expected = spectrum(left.view(), right.view());
  std::vector<float> a(200, NAN);
  std::vector<float> b(200, NAN);
  CHECK(spectrum(copied(a, left.view(), {13, 2}), copied(b, right.view(), {1, 5})) == expected);

  // Columns that are one and the same.
  TensorView<const float> alike = left.view();
  alike.strides[1] = 0;
  FloatMatrix repeated(9, 4, 23);
  for (Index i = 0; i < 9; ++i) {
    std::fill_n(repeated.values.begin() + i * 4, 4, *left.view().at(i, 0));
  }
  CHECK(spectrum(alike, right.view()) == spectrum(repeated.view(), right.view()));
}

TEST_CASE("singular_values: what is not finite gives NaN, and extremes give numbers", "[spectra]") {
  for (const float wrong : {NAN, INFINITY, -INFINITY}) {
    FloatMatrix left(5, 3, 25);
    const FloatMatrix right(3, 5, 26);
    left.values[7] = wrong;
    const Vectors found(left.view(), right.view());
    CHECK(found.values.array().isNaN().all());
    CHECK(found.left.array().isNaN().all());
    CHECK(found.right.array().isNaN().all());
    FloatMatrix column(5, 1, 25);  // nothing else turns to NaN there
    column.values[3] = wrong;
    CHECK(std::isnan(spectrum(column.view(), FloatMatrix(1, 5, 26).view())[0]));
  }
  for (const float size : {1e-45F, 1e-38F, 3e38F}) {
    CAPTURE(size);
    FloatMatrix left(5, 3, 27);
    for (float& x : left.values) {
      x = x < 0 ? -size : size;
    }
    const FloatMatrix identity(Eigen::MatrixXd::Identity(3, 3));
    // One beyond the largest float is infinite.
    CHECK(spectrum(left.view(), identity.view())[0] > 0.0);
    float rank = kUntouched;
    Workspace workspace;
    require_ok(effective_rank(alone(left.view()), alone(identity.view()), {&rank, {1}}, workspace));
    CHECK((rank >= 1.0F && rank <= 3.0F));
  }
}

TEST_CASE("effective_rank: stacks of products are within the bound", "[spectra]") {
  Quantity error("effective_rank");
  Workspace workspace;
  for (const auto& [m, k, n] : {std::array<Index, 3>{16, 4, 16}, {5, 8, 6}, {1, 1, 1}, {3, 7, 2}}) {
    CAPTURE(m, k, n);
    constexpr Index kMatrices = 3;
    const FloatMatrix left(kMatrices * m, k, 31);
    const FloatMatrix right(kMatrices * k, n, 32);
    std::vector<float> ranks(kMatrices, kUntouched);
    const WithinArena within;
    require_ok(effective_rank({left.values.data(), {kMatrices, m, k}},
                              {right.values.data(), {kMatrices, k, n}}, {ranks.data(), {kMatrices}},
                              workspace));
    CHECK(within.holds());
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

TEST_CASE("effective_rank: NaN stays with its matrix", "[spectra]") {
  FloatMatrix left(6, 3, 33);
  const FloatMatrix right(6, 4, 34);
  left.values[2] = NAN;
  std::vector<float> ranks(2, kUntouched);
  Workspace workspace;
  require_ok(effective_rank({left.values.data(), {2, 3, 3}}, {right.values.data(), {2, 3, 4}},
                            {ranks.data(), {2}}, workspace));
  CHECK(std::isnan(ranks[0]));
  CHECK((ranks[1] > 1.0F && ranks[1] <= 3.0F));
}

TEST_CASE("effective_rank, singular_values: nothing to multiply has rank 0, and no matrix no rank",
          "[spectra]") {
  Workspace workspace;
  float rank = kUntouched;
  const float one = 1.0F;
  require_ok(effective_rank({nullptr, {1, 4, 0}}, {nullptr, {1, 0, 4}}, {&rank, {1}}, workspace));
  CHECK(rank == 0.0F);
  rank = kUntouched;
  require_ok(effective_rank({nullptr, {1, 0, 1}}, {&one, {1, 1, 1}}, {&rank, {1}}, workspace));
  CHECK(rank == 0.0F);
  require_ok(effective_rank({nullptr, {0, 4, 4}}, {nullptr, {0, 4, 4}}, {nullptr, {0}}, workspace));
  require_ok(singular_values({nullptr, {1, 4, 0}}, {nullptr, {1, 0, 4}},
                             {.values = {nullptr, {1, 0}}}, workspace));
}

}  // namespace
}  // namespace qkv::test::singular_values_test
