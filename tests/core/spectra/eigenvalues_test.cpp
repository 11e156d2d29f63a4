// Eigenvalues of products, against those of the whole product and spectra that are known.
#include <catch2/catch_test_macros.hpp>

#include <complex>

#include "compare.hpp"
#include "position_oracle.hpp"
#include "spectra_problem.hpp"

namespace qkv::test::eigenvalues_test {
namespace {

struct Found {
  Found(const TensorView<const float>& left, const TensorView<const float>& right)
      : real(std::min(left.extent(0), left.extent(1))), imaginary(real.size()) {
    Workspace workspace;
    const WithinArena within;
    require_ok(eigenvalues(alone(left), alone(right),
                           {.real = {real.data(), {1, real.size()}},
                            .imaginary = {imaginary.data(), {1, real.size()}},
                            .copying = {&copying, {1}}},
                           workspace));
    CHECK(within.holds());
  }
  [[nodiscard]] std::complex<double> operator[](Index i) const { return {real[i], imaginary[i]}; }
  Eigen::VectorXf real, imaginary;
  float copying = kUntouched;
};

/// The distance of a matrix from the nearest one that has this eigenvalue.
double distance(const Eigen::MatrixXd& matrix, const std::complex<double>& value) {
  const Eigen::MatrixXcd shifted = matrix.cast<std::complex<double>>() -
                                   value * Eigen::MatrixXcd::Identity(matrix.rows(), matrix.cols());
  return Eigen::JacobiSVD<Eigen::MatrixXcd, Eigen::NoQRPreconditioner>(shifted)
      .singularValues()
      .tail(1)[0];
}

TEST_CASE("eigenvalues: products of every shape have them", "[spectra]") {
  Quantity error("eigenvalues");
  std::uint64_t seed = 1;
  for (Index m : {1, 2, 5, 9, 40, 200}) {
    for (Index k : {1, 2, 3, 9, 17}) {
      CAPTURE(m, k);
      const FloatMatrix left(m, k, seed++);
      const FloatMatrix right(k, m, seed++);
      const Eigen::MatrixXd a = exact(left.view());
      const Eigen::MatrixXd b = exact(right.view());
      const Eigen::MatrixXd small = k < m ? b * a : a * b;
      const Found found(left.view(), right.view());
      std::complex<double> sum = 0.0;
      double sizes = 0.0;
      for (Index i = 0; i < found.real.size(); ++i) {
        CAPTURE(i);
        const double size = std::abs(found[i]);
        error.add(distance(small, found[i]), 0.0,
                  bounds::eigenvalue(m, k, size, a.norm() * b.norm()));
        CHECK((i == 0 || size <= std::abs(found[i - 1]) * (1.0 + 1e-6)));
        sum += found[i];
        sizes += size;
      }
      CHECK(std::abs(sum - (a * b).trace()) <= 1e-6 * sizes);
      CHECK(std::abs(found.copying - sum.real() / sizes) <= 1e-6);
      // Those that are conjugate stand together, the positive one first.
      for (Index i = 0; i < found.real.size(); ++i) {
        if (found.imaginary[i] != 0.0F) {
          REQUIRE(i + 1 < found.real.size());
          CHECK(found.imaginary[i] > 0.0F);
          CHECK(found[i] == std::conj(found[i + 1]));
          ++i;
        }
      }
    }
  }
  require_within(error);
}

TEST_CASE("eigenvalues: those that the factors are made of", "[spectra]") {
  // left right = P diag(...) P^T with a rotation by an angle and a stretch.
  const double angle = 0.7;
  Eigen::MatrixXd middle = Eigen::MatrixXd::Zero(4, 4);
  middle(0, 0) = 4.0;
  middle(1, 1) = -1.0;
  middle.bottomRightCorner(2, 2) << 2.0 * std::cos(angle), -2.0 * std::sin(angle),
      2.0 * std::sin(angle), 2.0 * std::cos(angle);
  const Eigen::MatrixXd p = orthogonal(50, 4, 43);
  const FloatMatrix left(p * middle);
  const FloatMatrix right(p.transpose());
  const Found found(left.view(), right.view());
  const std::complex<double> expected[] = {4.0, std::polar(2.0, angle), std::polar(2.0, -angle),
                                           -1.0};
  for (Index i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] - expected[i]) < 1e-6);
  }
  CHECK(std::abs(found.copying - (4.0 + 4.0 * std::cos(angle) - 1.0) / 9.0) < 1e-6);
}

TEST_CASE("eigenvalues: hand cases of copying", "[spectra]") {
  const std::vector<float> identity{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<float> negative{-2, 0, 0, 0, -2, 0, 0, 0, -2};
  const std::vector<float> quarter_turn{0, -1, 1, 0};
  const std::vector<float> two{1, 0, 0, 1};
  const TensorView<const float> one(identity.data(), {3, 3});
  CHECK(Found(one, one).copying == 1.0F);
  CHECK(Found(one, {negative.data(), {3, 3}}).copying == -1.0F);
  CHECK(Found(one, {negative.data(), {3, 3}}).real == Eigen::Vector3f::Constant(-2.0F));
  const Found turn({two.data(), {2, 2}}, {quarter_turn.data(), {2, 2}});
  CHECK(turn.copying == 0.0F);
  CHECK(turn.real == Eigen::Vector2f(0.0F, 0.0F));
  CHECK(turn.imaginary == Eigen::Vector2f(1.0F, -1.0F));
  // Nothing but zeros, of a product that is not 0 itself.
  const std::vector<float> shift{0, 1, 0, 0};
  const Found none({two.data(), {2, 2}}, {shift.data(), {2, 2}});
  CHECK(none.copying == 0.0F);
  CHECK(none.real == Eigen::Vector2f(0.0F, 0.0F));
  // A product of rank 1 and factors of one row: 3 * 5 + 4 * 6.
  const std::vector<float> column{3, 4};
  const std::vector<float> row{5, 6};
  const Found single({column.data(), {2, 1}}, {row.data(), {1, 2}});
  CHECK(single.real[0] == 39.0F);
  CHECK(single.imaginary[0] == 0.0F);
}

TEST_CASE("eigenvalues: stacks, what is not finite, and nothing", "[spectra]") {
  FloatMatrix left(10, 3, 51);
  const FloatMatrix right(6, 5, 52);
  left.values[1] = INFINITY;
  std::vector<float> real(6, kUntouched);
  std::vector<float> imaginary(6, kUntouched);
  std::vector<float> copying(2, kUntouched);
  Workspace workspace;
  const TensorView<const float> a(left.values.data(), {2, 5, 3});
  const TensorView<const float> b(right.values.data(), {2, 3, 5});
  require_ok(eigenvalues(a, b,
                         {.real = {real.data(), {2, 3}},
                          .imaginary = {imaginary.data(), {2, 3}},
                          .copying = {copying.data(), {2}}},
                         workspace));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK((std::isnan(real[i]) && std::isnan(imaginary[i])));
  }
  CHECK(std::isnan(copying[0]));
  const Found second({left.values.data() + 15, {5, 3}}, {right.values.data() + 15, {3, 5}});
  CHECK(Eigen::Map<Eigen::Vector3f>(real.data() + 3) == second.real);
  CHECK(copying[1] == second.copying);
  // Each by itself, and without elements.
  float alone = kUntouched;
  require_ok(eigenvalues({nullptr, {1, 4, 0}}, {nullptr, {1, 0, 4}}, {.copying = {&alone, {1}}},
                         workspace));
  CHECK(alone == 0.0F);
  require_ok(eigenvalues({nullptr, {0, 4, 2}}, {nullptr, {0, 2, 4}}, {}, workspace));
}

TEST_CASE("eigenvalues: heads as they are in models", "[spectra]") {
  for (const Index k : {64, 128}) {
    CAPTURE(k);
    const FloatMatrix left(500, k, 53);
    const FloatMatrix right(k, 500, 54);
    const Found found(left.view(), right.view());
    const double trace = (exact(right.view()) * exact(left.view())).trace();
    CHECK(std::abs(found.real.cast<double>().sum() - trace) < 1e-5 * std::abs(found.real[0]) * 64);
  }
}

}  // namespace
}  // namespace qkv::test::eigenvalues_test
