/// @file
/// Rows of learned tables: token embeddings and learned positions.
#pragma once

#include <cstdint>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// Token embedding: out[i] = table[ids[i]], bit for bit.
///
/// `table` is [vocabulary, d_model], `ids` [n], `out` [n, d_model], all dense; out must not overlap
/// the others. Any of n, vocabulary and d_model may be 0, but there is no id into an empty table.
///
/// Errors, each naming the argument; nothing is written then:
/// - kInvalidArgument: a null pointer where elements exist, an array that is not dense, arrays that
///   overlap.
/// - kShapeMismatch: a wrong rank, out not [n, d_model].
/// - kOutOfRange: an id outside [0, vocabulary); the message says which and where.
Status embedding(TensorView<const float> table, TensorView<const std::int32_t> ids,
                 TensorView<float> out) noexcept;

/// What to do about positions past the end of a table.
enum class OutOfRange : std::uint8_t {
  kError,  ///< refuse
  kClamp,  ///< take the last row
};

/// Learned positions (Gehring et al. 2017): out[i] = table[offset + i], bit for bit.
///
/// `table` is [max_length, d_model], `out` [length, d_model], both dense and apart from each other.
/// With no rows to write any offset of at least 0 is fine.
///
/// Errors, each naming the argument; nothing is written then:
/// - kInvalidArgument: a null pointer where elements exist, an array that is not dense, arrays that
///   overlap, an `out_of_range` that is neither.
/// - kShapeMismatch: a wrong rank, out not [length, d_model].
/// - kOutOfRange: offset below 0; offset + length above max_length with kError, or a table without
///   rows with kClamp.
Status learned_encoding(TensorView<const float> table, TensorView<float> out, Index offset,
                        OutOfRange out_of_range) noexcept;

}  // namespace qkv
