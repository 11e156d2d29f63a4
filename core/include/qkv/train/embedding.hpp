/// @file
/// Gradients of embeddings and rotary positions.
#pragma once

#include <cstdint>

#include "qkv/rotary.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// The gradient of embedding(): row r of d_table is the sum of d_out over the tokens with id r, added up in
/// the order of tokens, and 0 where there are none. d_out [N, d], ids [N], d_table [vocabulary, d], all dense.
///
/// Error bound with u = 2^-24: |d_table - exact| <= u n sum |d_out| over the n tokens of a row.
///
/// Errors as embedding(); nothing is written then.
Status embedding_backward(TensorView<const float> d_out, TensorView<const std::int32_t> ids,
                          TensorView<float> d_table) noexcept;

/// The gradient of rotary_embedding(): the rotation by the negative angle, with the same attention factor.
/// d_out and dx [B, H, T, d]; dx may be d_out. Errors and bound as rotary_embedding().
Status rotary_embedding_backward(TensorView<const float> d_out, TensorView<float> dx,
                                 const RotaryOptions& options, Workspace& workspace) noexcept;

}  // namespace qkv::train
