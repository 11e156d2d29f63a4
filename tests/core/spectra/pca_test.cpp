// Principal components, against Eigen's decomposition of the centred rows and rows of known directions.
#include <catch2/catch_test_macros.hpp>

#include "compare.hpp"
#include "position_oracle.hpp"
#include "spectra_problem.hpp"

namespace qkv::test::pca_test {
namespace {

struct Found {
  Found(const TensorView<const float>& x, Index count)
      : mean(x.extent(1)),
        variances(count),
        shares(count),
        components(count, x.extent(1)),
        projections(x.extent(0), count) {
    Workspace workspace;
    const WithinArena within;
    require_ok(pca(x, count,
                   {.mean = {mean.data(), {mean.size()}},
                    .components = as_view(components),
                    .variances = {variances.data(), {count}},
                    .shares = {shares.data(), {count}},
                    .projections = as_view(projections)},
                   workspace));
    CHECK(within.holds());
  }
  Eigen::VectorXf mean, variances, shares;
  RowMajorMatrix<float> components, projections;
};

TEST_CASE("pca: rows of every shape", "[spectra]") {
  Quantity variance("pca variances");
  std::uint64_t seed = 1;
  for (const auto& [n, d] : {std::pair<Index, Index>{2, 2},
                             {5, 3},
                             {3, 5},
                             {64, 8},
                             {200, 20},
                             {20, 200},
                             {65, 65},
                             {130, 90}}) {
    const Index count = std::min({n, d, Index{7}});
    CAPTURE(n, d, count);
    const FloatMatrix x(n, d, seed++);
    const Eigen::MatrixXd rows = exact(x.view());
    const Eigen::RowVectorXd mean = rows.colwise().mean();
    const Eigen::MatrixXd centred = rows.rowwise() - mean;
    const Eigen::VectorXd sizes = Eigen::JacobiSVD<Eigen::MatrixXd>(centred).singularValues();
    const Eigen::VectorXd expected = sizes.array().square() / static_cast<double>(n - 1);
    const double all = centred.squaredNorm() / static_cast<double>(n - 1);
    const Found found(x.view(), count);
    CHECK(found.mean == mean.transpose().cast<float>());
    for (Index i = 0; i < count; ++i) {
      CAPTURE(i);
      variance.add(found.variances[i], expected[i], bounds::variance(n, d, expected[i], all));
      CHECK(std::abs(found.shares[i] - expected[i] / all) < 1e-6);
      const bool rounding = expected[i] < 1e-12 * expected[0];  // as many components as rows
      const Eigen::VectorXd component = found.components.row(i).cast<double>();
      CHECK(std::abs(component.norm() - (rounding ? 0.0 : 1.0)) < 1e-6);
      Index most = 0;
      component.cwiseAbs().maxCoeff(&most);
      CHECK((rounding || component[most] > 0.0));
      // What an eigenvector is: the scatter stretches it, and turns it nowhere.
      const Eigen::VectorXd stretched = centred.transpose() * (centred * component);
      CHECK((stretched - sizes[i] * sizes[i] * component).norm() < 1e-5 * sizes[0] * sizes[0]);
    }
    const Eigen::MatrixXd projected = centred * found.components.cast<double>().transpose();
    CHECK((found.projections.cast<double>() - projected).norm() <= 1e-6 * projected.norm());
    const Eigen::MatrixXd between =
        found.components.cast<double>() * found.components.cast<double>().transpose();
    CHECK((between - Eigen::MatrixXd(between.diagonal().asDiagonal())).norm() < 1e-5);
  }
  require_within(variance);
}

TEST_CASE("pca: the directions that rows are made of", "[spectra]") {
  for (const auto& [n, d] : {std::pair<Index, Index>{40, 10}, {10, 40}}) {
    CAPTURE(n, d);
    // Orthogonal places whose sums are 0, along orthogonal directions.
    Eigen::MatrixXd places(n, 3);
    places.col(0).setOnes();
    places.rightCols(2) = exact(FloatMatrix(n, 2, 61).view());
    const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(places).householderQ() *
                              Eigen::MatrixXd::Identity(n, 3);
    const Eigen::MatrixXd directions = orthogonal(d, 2, 62);
    const Eigen::MatrixXd rows = 6.0 * q.col(1) * directions.col(0).transpose() +
                                 2.0 * q.col(2) * directions.col(1).transpose();
    const FloatMatrix x(rows.array() + 0.5);
    const Found found(x.view(), 2);
    for (Index i = 0; i < 2; ++i) {
      const double along = found.components.row(i).cast<double>().dot(directions.col(i));
      CHECK(std::abs(std::abs(along) - 1.0) < 1e-5);
    }
    const auto divisor = static_cast<double>(n - 1);
    CHECK(std::abs(found.variances[0] - 36.0 / divisor) < 1e-5 * 36.0 / divisor);
    CHECK(std::abs(found.variances[1] - 4.0 / divisor) < 1e-4 * 4.0 / divisor);
    CHECK(std::abs(found.shares[0] - 0.9) < 1e-5);
    CHECK(found.mean.isApprox(Eigen::VectorXf::Constant(d, 0.5F), 1e-5F));
  }
}

TEST_CASE("pca: hand cases", "[spectra]") {
  // Four corners of a rectangle of 4 x 2, moved: variances 4 * 4 / 3 and 4 * 1 / 3.
  const std::vector<float> corners{5, 1, 5, 3, 1, 1, 1, 3};
  const Found found({corners.data(), {4, 2}}, 2);
  CHECK(found.mean == Eigen::Vector2f(3.0F, 2.0F));
  CHECK(found.components == RowMajorMatrix<float>::Identity(2, 2));
  CHECK(found.variances ==
        Eigen::Vector2f(static_cast<float>(16.0 / 3), static_cast<float>(4.0 / 3)));
  CHECK(found.shares == Eigen::Vector2f(0.8F, 0.2F));
  CHECK(found.projections.col(0) == Eigen::Vector4f(2, 2, -2, -2));
  // Two equal sizes with other signs: the first of them is positive.
  const std::vector<float> diagonal{1, -1, -1, 1};
  const Found across({diagonal.data(), {2, 2}}, 1);
  CHECK(across.components(0, 0) > 0.0F);
  CHECK(across.components(0, 1) == -across.components(0, 0));
  // One row, equal rows, and directions that are not there.
  const Found one({corners.data(), {1, 2}}, 1);
  CHECK(one.variances[0] == 0.0F);
  CHECK(one.shares[0] == 0.0F);
  CHECK(one.mean == Eigen::Vector2f(5.0F, 1.0F));
  const std::vector<float> line{0, 0, 0, 1, 2, 3, 2, 4, 6};
  const Found flat({line.data(), {3, 3}}, 3);
  CHECK(flat.shares == Eigen::Vector3f(1.0F, 0.0F, 0.0F));
  CHECK(flat.components.bottomRows(2).isZero(0.0F));
  CHECK(flat.projections.rightCols(2).isZero(0.0F));
}

TEST_CASE("pca: strides, what is not finite, and nothing", "[spectra][strides]") {
  const FloatMatrix x(6, 4, 63);
  std::vector<float> spread(200, NAN);
  TensorView<float> view(spread.data(), {6, 4});
  view.strides = {2, 13};
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 4; ++j) {
      *view.at(i, j) = *x.view().at(i, j);
    }
  }
  const Found dense(x.view(), 3);
  const Found apart(view, 3);
  CHECK(apart.components == dense.components);
  CHECK(apart.projections == dense.projections);
  CHECK(apart.variances == dense.variances);
  for (const float wrong : {NAN, INFINITY}) {
    *view.at(2, 1) = wrong;
    const Found found(view, 2);
    CHECK(found.mean[0] == dense.mean[0]);
    CHECK_FALSE(std::isfinite(found.mean[1]));
    CHECK(found.components.array().isNaN().all());
    CHECK(found.projections.array().isNaN().all());
    CHECK(found.variances.array().isNaN().all());
    CHECK(found.shares.array().isNaN().all());
  }
  Workspace workspace;
  std::vector<float> mean(3, kUntouched);
  require_ok(pca({nullptr, {0, 3}}, 0, {.mean = {mean.data(), {3}}}, workspace));
  CHECK(mean == std::vector<float>(3, 0.0F));
  require_ok(pca({nullptr, {3, 0}}, 0, {.components = {nullptr, {0, 0}}}, workspace));
  require_ok(pca(x.view(), 0, {}, workspace));
  // What is absent is not written, whatever extents it had.
  std::vector<float> before(8, kUntouched);
  TensorView<float> absent(before.data(), {2, 4});
  absent.rank = 0;
  require_ok(pca(view, 2,
                 {.mean = absent,
                  .components = absent,
                  .variances = absent,
                  .shares = absent,
                  .projections = absent},
                 workspace));
  CHECK(before == std::vector<float>(8, kUntouched));
}

}  // namespace
}  // namespace qkv::test::pca_test
