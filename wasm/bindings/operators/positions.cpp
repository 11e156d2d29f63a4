// Positions.
#include "support.hpp"
#include "operators.hpp"
#include "qkv/qkv.hpp"

namespace qkv::wasm {

namespace {

SinusoidOptions read_sinusoid(const Descriptor& d) noexcept {
  return {
      .base = d.base,
      .layout = d.concatenated != 0 ? SinusoidLayout::kConcatenated : SinusoidLayout::kInterleaved};
}

}  // namespace

Status sinusoidalEncoding(Descriptor& d) noexcept {
  return sinusoidal_encoding(d.out.view<float>(), whole(d.offset), read_sinusoid(d));
}

/// Blocks into rank 3, the dense matrix into rank 2.
Status sinusoidalShift(Descriptor& d) noexcept {
  const TensorView<float> out = d.out.view<float>();
  return out.rank == 3
             ? sinusoidal_shift_blocks(out, whole(d.offset), whole(d.dModel), read_sinusoid(d))
             : sinusoidal_shift_matrix(out, whole(d.offset), read_sinusoid(d));
}

Status rotaryEmbedding(Descriptor& d) noexcept {
  return rotary_embedding(d.x.heads<const float>(d.numHeads), d.out.heads<float>(d.numHeads),
                          read_rotary(d), scratch());
}

Status alibiSlopes(Descriptor& d) noexcept { return alibi_slopes(d.out.view<float>()); }

Status t5RelativeBias(Descriptor& d) noexcept {
  return t5_relative_bias(d.table.view<const float>(), d.out.view<float>(),
                          {.bidirectional = d.bidirectional != 0,
                           .max_distance = whole(d.maxDistance),
                           .offset = whole(d.offset)});
}

Status transformerXlBias(Descriptor& d) noexcept {
  return transformer_xl_bias(d.q.view<const float>(), d.table.view<const float>(),
                             d.v.view<const float>(), d.out.view<float>());
}

}  // namespace qkv::wasm
