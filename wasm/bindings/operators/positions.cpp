// Positions.
#include "operators/rotary_fields.hpp"
#include "support.hpp"

namespace qkv::wasm {
namespace {

SinusoidOptions sinusoid_options(const SinusoidFields& given) noexcept {
  return {.base = given.base, .layout = given.layout};
}

}  // namespace

RotaryOptions rotary_options(const RotaryFields& given) noexcept {
  return {.offset = given.offset,
          .positions = given.positions,
          .base = given.base,
          .rotary_dim = given.rotary_dim,
          .interleaved = given.interleaved,
          .scaling = {.type = given.scaling,
                      .factor = given.factor,
                      .original_length = given.original_length,
                      .beta_fast = given.beta_fast,
                      .beta_slow = given.beta_slow,
                      .attention_factor = given.attention_factor.get()},
          .cos = given.cos,
          .sin = given.sin};
}

Status sinusoidalEncoding(const SinusoidalEncodingFields& given) noexcept {
  return sinusoidal_encoding(given.out, given.offset, sinusoid_options(given.sinusoid));
}

/// Blocks into rank 3, the dense matrix into rank 2.
Status sinusoidalShift(const SinusoidalShiftFields& given) noexcept {
  const SinusoidOptions options = sinusoid_options(given.sinusoid);
  return given.out.rank == 3 ? sinusoidal_shift_blocks(given.out, given.k, given.d_model, options)
                             : sinusoidal_shift_matrix(given.out, given.k, options);
}

Status rotaryEmbedding(const RotaryEmbeddingFields& given) noexcept {
  return rotary_embedding(given.x.heads(given.num_heads), given.out.heads(given.num_heads),
                          rotary_options(given.rotary), scratch());
}

Status alibiSlopes(const AlibiSlopesFields& given) noexcept { return alibi_slopes(given.out); }

Status t5RelativeBias(const T5RelativeBiasFields& given) noexcept {
  return t5_relative_bias(given.table, given.out,
                          {.bidirectional = given.bidirectional,
                           .max_distance = given.max_distance,
                           .offset = given.offset});
}

Status transformerXlBias(const TransformerXlBiasFields& given) noexcept {
  return transformer_xl_bias(given.q, given.r, given.v, given.out);
}

}  // namespace qkv::wasm
