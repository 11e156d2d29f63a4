// What a page in src/arch provides: plain structs in, function pointers out. A public operator
// fetches this table once per call and never asks again which machine it is on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qkv::kernels {

using Index = std::ptrdiff_t;

/// b[kk, j] = b[kk * row_stride + j * column_stride], k x n, into panels of ceil(n / panel) * panel
/// columns; `panels` is aligned to 64 bytes.
struct PackArgs {
  const float* b;
  Index row_stride, column_stride;
  Index k, n;
  float* panels;
};

/// c[m, n] = a[m, k] * b + bias. `bias` is null or padded with anything to whole panels.
struct GemmArgs {
  Index m, n, k;
  const float* a;
  Index a_stride;
  const float* b_panels;
  const float* bias;
  float* c;
  Index c_stride;
};

/// One query head of one batch row against its packed key/value head.
struct HeadArgs {
  Index tq, tk, dk, dv;
  const float* q;  ///< [tq, dk]
  Index q_stride;
  const float* k_panels;      ///< pack() of K transposed: dk x tk
  const float* v_panels;      ///< pack() of V: tk x dv
  float scale;                ///< on q.k
  float inverse_temperature;  ///< on scores, after the maximum is subtracted
  bool causal;                ///< key j <= i + causal_offset
  Index causal_offset;
  const std::uint8_t*
      mask;  ///< null or element (i, j) at i * mask_strides[0] + j * mask_strides[1]
  Index mask_strides[2];
  const float* bias;  ///< likewise
  Index bias_strides[2];
  float* out;  ///< [tq, dv]
  Index out_stride;
  float* row_max;  ///< [tq] running maximum of the scores; -inf for a row without keys
  float* row_sum;  ///< [tq] sum of exp((s - max) / temperature); 0 for a row without keys
  float* scratch;  ///< head_scratch(dk, dv) floats, aligned to 64 bytes
};

/// Second pass over finished rows [row_begin, row_end) of a head.
struct WeighArgs {
  Index row_begin, row_end;
  float* weights;  ///< null or [row_end - row_begin, tk]
  Index weights_stride;
  float*
      log_weight_sum;  ///< null or [row_end - row_begin]: sum_j exp(x_j) x_j, x = (s - max) / tau
};

struct KernelTable {
  const char* isa;
  Index panel;  ///< columns of a packed panel
  /// Floats of HeadArgs::scratch.
  Index (*head_scratch)(Index dv) noexcept;
  void (*pack)(const PackArgs&) noexcept;
  void (*gemm)(const GemmArgs&) noexcept;
  void (*attend)(const HeadArgs&) noexcept;
  void (*weigh)(const HeadArgs&, const WeighArgs&) noexcept;
};

}  // namespace qkv::kernels
