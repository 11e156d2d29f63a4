// Weights of PyTorch modules as weights of this library.
#pragma once

#include <map>
#include <string>

#include "fixtures.hpp"
#include "qkv/qkv.hpp"

namespace qkv::test {

/// Parameters by the names of PyTorch's state_dict(). Matrices are [out, in].
class TorchState {
 public:
  explicit TorchState(const Json& json) {
    for (const auto& [name, array] : json.items()) {
      arrays_.emplace(name, JsonArray(array));
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return arrays_.count(name) > 0; }
  /// Absent if there is none.
  [[nodiscard]] TensorView<const float> view(const std::string& name) const {
    return has(name) ? arrays_.at(name).view() : TensorView<const float>();
  }
  /// Of a matrix or bias that holds those of q, k and v one after the other: one of them.
  [[nodiscard]] TensorView<const float> third(const std::string& name, Index part) const {
    TensorView<const float> view = this->view(name);
    if (!view.absent()) {
      view.shape[0] /= 3;
      view.data += part * view.size();
    }
    return view;
  }

  /// nn.MultiheadAttention `prefix` with its matrices apart, whichever way it keeps them.
  [[nodiscard]] MultiHeadAttentionWeights attention(const std::string& prefix) const;
  /// The same with q, k and v in one matrix, as it keeps them when all widths are alike.
  [[nodiscard]] MultiHeadAttentionWeights fused_attention(const std::string& prefix) const;

  [[nodiscard]] NormWeights norm(const std::string& prefix) const {
    return {view(prefix + "weight"), view(prefix + "bias")};
  }
  /// nn.TransformerEncoderLayer `prefix`, or with `cross` nn.TransformerDecoderLayer.
  [[nodiscard]] TransformerBlockWeights block(const std::string& prefix, bool cross) const;

 private:
  std::map<std::string, JsonArray> arrays_;
};

/// [out, in] seen as [in, out].
inline TensorView<const float> flipped(TensorView<const float> matrix) {
  std::swap(matrix.shape[0], matrix.shape[1]);
  std::swap(matrix.strides[0], matrix.strides[1]);
  return matrix;
}

}  // namespace qkv::test
