// The multi-head layer from its formulas in double precision, with how far its projections may be from them.
#pragma once

#include <vector>

#include "blocks_oracle.hpp"

namespace qkv::test::oracle {

/// What MultiHeadAttention computes. `w` holds wq, wk, wv and wo as [in, out] views (any strides),
/// `c` has every size filled in, `context` is x for self-attention.
struct LayerInputs {
  MultiHeadAttentionConfig c;
  MultiHeadAttentionWeights w;
  TensorView<const float> x, context;
  AttentionOptions options;
};

struct Layer {
  Bounded q, k, v;        ///< [B, T, heads * d], as attention() reads them
  std::vector<Row> rows;  ///< by (b, h, i)
  std::vector<double> o;  ///< [B, T, heads * d_v]
  Product y;              ///< [B, T, d_model]
};

inline Layer layer(const LayerInputs& in) {
  const auto& [c, w, x, context, options] = in;
  const std::vector<double> x64(x.data, x.data + x.size());
  const std::vector<double> context64(context.data, context.data + context.size());
  const Index batch = x.extent(0);
  const Index tq = x.extent(1);
  const Index tk = context.extent(1);
  Layer result;
  result.q = qk_normalized(c, w.q_gamma, w.q_beta, linear(exactly(x64), w.wq, w.bq));
  result.k = qk_normalized(c, w.k_gamma, w.k_beta, linear(exactly(context64), w.wk, w.bk));
  result.v = linear(exactly(context64), w.wv, w.bv);
  const Inputs<double> inputs{heads(result.q.value, batch, tq, c.num_heads),
                              heads(result.k.value, batch, tk, c.num_kv_heads),
                              heads(result.v.value, batch, tk, c.num_kv_heads)};
  result.o.resize(static_cast<std::size_t>(batch * tq * c.num_heads * c.d_v));
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < c.num_heads; ++h) {
      for (Index i = 0; i < tq; ++i) {
        result.rows.push_back(attention_row(inputs, options, {b, h, i}));
        const std::vector<double>& out = result.rows.back().out;
        std::copy(out.begin(), out.end(),
                  result.o.begin() + ((b * tq + i) * c.num_heads + h) * c.d_v);
      }
    }
  }
  result.y = linear(result.o, w.wo, w.bo);
  return result;
}

}  // namespace qkv::test::oracle
