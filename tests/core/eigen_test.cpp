// The Eigen bridges: the same memory, no copies.
#include "qkv/eigen.hpp"

#include <catch2/catch_test_macros.hpp>

#include "problem.hpp"

namespace qkv::test::eigen_test {
namespace {

TEST_CASE("eigen: as_matrix maps the memory of a head", "[eigen][any-isa]") {
  std::vector<float> memory(2 * 3 * 4 * 5);
  const TensorView<float> view(memory.data(), {2, 3, 4, 5});
  auto head = as_matrix(view, 1, 2);
  CHECK(head.rows() == 4);
  CHECK(head.cols() == 5);
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 5; ++j) {
      REQUIRE(&head(i, j) == view.at(1, 2, i, j));
    }
  }
  head(3, 4) = 7.0F;
  CHECK(memory.back() == 7.0F);
}

TEST_CASE("eigen: as_matrix follows strides", "[eigen][any-isa]") {
  std::vector<float> memory(2 * 6 * 3 * 4);
  const auto view = split_heads(memory.data(), 2, 6, 3, 4);
  const auto head = as_matrix(view, 1, 2);
  for (Index t = 0; t < 6; ++t) {
    for (Index d = 0; d < 4; ++d) {
      REQUIRE(&head(t, d) == memory.data() + ((1 * 6 + t) * 3 + 2) * 4 + d);
    }
  }
}

TEST_CASE("eigen: as_matrix of lower ranks", "[eigen][any-isa]") {
  std::vector<float> memory(24);
  const TensorView<const float> matrix(memory.data(), {4, 6});
  CHECK(as_matrix(matrix).rows() == 4);
  CHECK(&as_matrix(matrix).coeffRef(3, 5) == memory.data() + 23);
  const TensorView<const float> three(memory.data(), {2, 3, 4});
  CHECK(as_matrix(three, 1).data() == memory.data() + 12);
}

TEST_CASE("eigen: as_view maps the memory of a matrix", "[eigen][any-isa]") {
  RowMajorMatrix<float> matrix(3, 5);
  matrix.setRandom();
  const TensorView<const float> view = as_view(matrix);
  CHECK(view.rank == 2);
  CHECK(view.data == matrix.data());
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 5; ++j) {
      REQUIRE(view.at(i, j) == &matrix(i, j));
    }
  }
}

TEST_CASE("eigen: attention of a head written with Eigen agrees", "[eigen][attention]") {
  Problem p({.batch = 2, .heads = 4, .kv_heads = 2, .tq = 9, .tk = 14, .dk = 6, .dv = 5}, 1);
  p.run();
  const AttentionArgs args = p.args();
  for (Index b = 0; b < 2; ++b) {
    for (Index h = 0; h < 4; ++h) {
      const Eigen::MatrixXd q = as_matrix(args.q, b, h).cast<double>();
      const Eigen::MatrixXd k = as_matrix(args.k, b, h / 2).cast<double>();
      const Eigen::MatrixXd v = as_matrix(args.v, b, h / 2).cast<double>();
      const Eigen::MatrixXd e = ((q * k.transpose()) / std::sqrt(6.0)).array().exp().matrix();
      const Eigen::MatrixXd weights = e.rowwise().sum().cwiseInverse().asDiagonal() * e;
      const Eigen::MatrixXd out = weights * v;
      REQUIRE((as_matrix(args.out, b, h).cast<double>() - out).cwiseAbs().maxCoeff() < 1e-6);
      REQUIRE(
          (as_matrix(args.extras.weights, b, h).cast<double>() - weights).cwiseAbs().maxCoeff() <
          1e-6);
    }
  }
}

TEST_CASE("eigen: as_view keeps the strides of a block, and its constness", "[eigen][any-isa]") {
  RowMajorMatrix<float> matrix(5, 7);
  const TensorView view = as_view(matrix.block(1, 2, 3, 4));
  static_assert(std::is_same_v<decltype(view.data), float*>);
  static_assert(std::is_same_v<decltype(as_view(std::as_const(matrix)).data), const float*>);
  static_assert(
      std::is_same_v<decltype(as_view(std::as_const(matrix).topRows(1)).data), const float*>);
  CHECK(view.extent(0) == 3);
  CHECK(view.extent(1) == 4);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 4; ++j) {
      REQUIRE(view.at(i, j) == &matrix(1 + i, 2 + j));
    }
  }
}

TEST_CASE("eigen: split_heads maps the columns of each head", "[eigen][any-isa]") {
  RowMajorMatrix<float> fused(5, 2 * 3 + 4);
  Eigen::MatrixXf columns(3 * 2, 5);
  const TensorView rows = split_heads(fused.middleCols(4, 6), 2);
  const TensorView turned = split_heads(columns.transpose(), 2);
  CHECK(rows.shape == std::array<Index, 4>{1, 2, 5, 3});
  CHECK(turned.shape == rows.shape);
  CHECK(turned.stride(0) == columns.size());
  CHECK(rows.stride(0) == fused.size());
  for (Index h = 0; h < 2; ++h) {
    for (Index t = 0; t < 5; ++t) {
      for (Index d = 0; d < 3; ++d) {
        REQUIRE(rows.at(0, h, t, d) == &fused(t, 4 + 3 * h + d));
        REQUIRE(turned.at(0, h, t, d) == &columns(3 * h + d, t));
      }
    }
  }
}

TEST_CASE("eigen: attention reads and writes Eigen matrices in place", "[eigen][attention]") {
  Problem p(square(7, 4), 2);
  const std::vector<float> expected = p.run().out;
  const RowMajorMatrix<float> q = as_matrix(p.args().q, 0, 0);
  Eigen::MatrixXf out(4, 7);
  AttentionArgs args = p.args();
  args.q = split_heads(q, 1);
  args.out = split_heads(out.transpose(), 1);
  require_ok(attention(args, p.workspace));
  CHECK(first_difference(expected, {out.data(), out.data() + out.size()}) == "");
}

}  // namespace
}  // namespace qkv::test::eigen_test
