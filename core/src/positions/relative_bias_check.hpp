// The checks that biases by distance share with their gradients: the same arrays, of which other ones are written.
#pragma once

#include "base/message.hpp"
#include "qkv/relative_bias.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// A table of T5's buckets under the name that the caller gives it, and options that fit it.
Status check_t5(const Caller& caller, const char* name, const TensorView<const float>& table,
                const T5Options& options) noexcept;

/// What transformer_xl_bias() reads, and its bias or the gradient of that.
struct TransformerXlArrays {
  TensorView<const float> q, r, v;
  const char* bias_name;
  TensorView<const float> bias;
};
Status check_transformer_xl(const Caller& caller, const TransformerXlArrays& arrays) noexcept;

}  // namespace qkv
