#include "torch_state.hpp"

namespace qkv::test {

MultiHeadAttentionWeights TorchState::attention(const std::string& prefix) const {
  MultiHeadAttentionWeights w;
  if (has(prefix + "in_proj_weight")) {
    w.wq = third(prefix + "in_proj_weight", 0);
    w.wk = third(prefix + "in_proj_weight", 1);
    w.wv = third(prefix + "in_proj_weight", 2);
  } else {
    w.wq = view(prefix + "q_proj_weight");
    w.wk = view(prefix + "k_proj_weight");
    w.wv = view(prefix + "v_proj_weight");
  }
  w.bq = third(prefix + "in_proj_bias", 0);
  w.bk = third(prefix + "in_proj_bias", 1);
  w.bv = third(prefix + "in_proj_bias", 2);
  w.wo = view(prefix + "out_proj.weight");
  w.bo = view(prefix + "out_proj.bias");
  return w;
}

MultiHeadAttentionWeights TorchState::fused_attention(const std::string& prefix) const {
  MultiHeadAttentionWeights w;
  w.wqkv = view(prefix + "in_proj_weight");
  w.bqkv = view(prefix + "in_proj_bias");
  w.wo = view(prefix + "out_proj.weight");
  w.bo = view(prefix + "out_proj.bias");
  return w;
}

TransformerBlockWeights TorchState::block(const std::string& prefix, bool cross) const {
  TransformerBlockWeights w;
  w.attention = fused_attention(prefix + "self_attn.");
  w.norm1 = norm(prefix + "norm1.");
  if (cross) {
    w.cross = attention(prefix + "multihead_attn.");
    w.norm_cross = norm(prefix + "norm2.");
  }
  w.norm2 = norm(prefix + (cross ? "norm3." : "norm2."));
  w.feed_forward.w1 = view(prefix + "linear1.weight");
  w.feed_forward.b1 = view(prefix + "linear1.bias");
  w.feed_forward.w2 = view(prefix + "linear2.weight");
  w.feed_forward.b2 = view(prefix + "linear2.bias");
  return w;
}

}  // namespace qkv::test
