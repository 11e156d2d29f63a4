// The weights of a head as views of the arrays of its layer.
#include "qkv/circuits.hpp"

#include <catch2/catch_test_macros.hpp>

#include "problem.hpp"
#include "qkv/eigen.hpp"
#include "random.hpp"

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

TEST_CASE("circuits: the weights of a head are its columns and rows", "[circuits][any-isa]") {
  const Layer layer;
  for (Index h = 0; h < 4; ++h) {
    CAPTURE(h);
    const HeadWeights head = head_weights(layer.config, layer.weights, h);
    CHECK(exact(head.wq) == exact(layer.wq.view()).middleCols(3 * h, 3));
    CHECK(exact(head.wk) == exact(layer.wk.view()).middleCols(3 * (h / 2), 3));
    CHECK(exact(head.wv) == exact(layer.wv.view()).middleCols(5 * (h / 2), 5));
    CHECK(exact(head.wo) == exact(layer.wo.view()).middleRows(5 * h, 5));
  }
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

}  // namespace
}  // namespace qkv::test::circuits_test
