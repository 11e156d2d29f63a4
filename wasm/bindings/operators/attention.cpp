// attention(), its cache and the layer around it.
#include "support.hpp"
#include "operators.hpp"
#include "qkv/qkv.hpp"

namespace qkv::wasm {
namespace {

AttentionOptions read_options(const Descriptor& d) noexcept {
  AttentionOptions options;
  if (d.hasScale != 0) {
    options.scale = static_cast<float>(d.scale);
  }
  options.softcap = static_cast<float>(d.softcap);
  options.temperature = static_cast<float>(d.temperature);
  options.causal = d.causal != 0;
  if (d.hasCausalOffset != 0) {
    options.causal_offset = whole(d.causalOffset);
  }
  options.causal_offsets = d.causalOffsets.view<const std::int32_t>();
  options.window_left = whole(d.windowLeft);
  options.window_right = whole(d.windowRight);
  options.key_lengths = d.keyLengths.view<const std::int32_t>();
  options.mask = d.mask.view<const std::uint8_t>();
  options.additive_mask = d.additiveMask.view<const float>();
  options.bias = d.bias.view<const float>();
  options.alibi_slopes = d.alibiSlopes.view<const float>();
  options.sinks = d.sinks.view<const float>();
  options.dropout.rate = static_cast<float>(d.dropoutRate);
  options.dropout.seed = (static_cast<std::uint64_t>(d.dropoutSeedHigh) << 32) |
                         static_cast<std::uint64_t>(d.dropoutSeedLow);
  return options;
}

AttentionExtras read_extras(const Descriptor& d) noexcept {
  return {.weights = d.weights.view<float>(),
          .logits = d.logits.view<float>(),
          .logit_stage = static_cast<LogitStage>(static_cast<int>(d.logitStage)),
          .row_begin = whole(d.rowBegin),
          .row_end = whole(d.rowEnd),
          .lse = d.lse.view<float>(),
          .entropy = d.entropy.view<float>()};
}

MultiHeadAttentionConfig read_config(const Descriptor& d) noexcept {
  MultiHeadAttentionConfig config{
      .d_model = whole(d.dModel),
      .num_heads = whole(d.numHeads),
      .num_kv_heads = whole(d.numKvHeads),
      .d_k = whole(d.dK),
      .d_v = whole(d.dV),
      .d_context = whole(d.dContext),
      .weight_layout = d.outIn != 0 ? WeightLayout::kOutIn : WeightLayout::kInOut,
      .rotary = {}};
  if (d.hasRotary != 0) {
    config.rotary = read_rotary(d);
  }
  return config;
}

MultiHeadAttentionWeights read_weights(const Descriptor& d) noexcept {
  return {.wq = d.wq.view<const float>(),
          .wk = d.wk.view<const float>(),
          .wv = d.wv.view<const float>(),
          .wqkv = d.wqkv.view<const float>(),
          .wo = d.wo.view<const float>(),
          .bq = d.bq.view<const float>(),
          .bk = d.bk.view<const float>(),
          .bv = d.bv.view<const float>(),
          .bqkv = d.bqkv.view<const float>(),
          .bo = d.bo.view<const float>()};
}

TransformerBlockConfig read_block_config(const Descriptor& d) noexcept {
  return {.attention = read_config(d),
          .d_feed_forward = whole(d.dFeedForward),
          .norm = d.postNorm != 0 ? NormPlacement::kPost : NormPlacement::kPre,
          .norm_type = d.rmsNorm != 0 ? NormType::kRms : NormType::kLayer,
          .activation = static_cast<FeedForwardActivation>(whole(d.activation)),
          .cross_attention = d.crossAttention != 0,
          .epsilon = static_cast<float>(d.epsilon)};
}

NormWeights read_norm(const Array& gamma, const Array& beta) noexcept {
  return {.gamma = gamma.view<const float>(), .beta = beta.view<const float>()};
}

TransformerBlockWeights read_block_weights(const Descriptor& d) noexcept {
  return {.attention = read_weights(d),
          .cross = {.wq = d.crossWq.view<const float>(),
                    .wk = d.crossWk.view<const float>(),
                    .wv = d.crossWv.view<const float>(),
                    .wqkv = d.crossWqkv.view<const float>(),
                    .wo = d.crossWo.view<const float>(),
                    .bq = d.crossBq.view<const float>(),
                    .bk = d.crossBk.view<const float>(),
                    .bv = d.crossBv.view<const float>(),
                    .bqkv = d.crossBqkv.view<const float>(),
                    .bo = d.crossBo.view<const float>()},
          .norm1 = read_norm(d.gamma1, d.beta1),
          .norm_cross = read_norm(d.gammaCross, d.betaCross),
          .norm2 = read_norm(d.gamma2, d.beta2),
          .feed_forward = {.w1 = d.w1.view<const float>(),
                           .b1 = d.b1.view<const float>(),
                           .w2 = d.w2.view<const float>(),
                           .b2 = d.b2.view<const float>(),
                           .w_gate = d.wGate.view<const float>(),
                           .b_gate = d.bGate.view<const float>()}};
}

}  // namespace

Status attention(Descriptor& d) noexcept {
  return qkv::attention({.q = d.q.heads<const float>(d.numHeads),
                         .k = d.k.heads<const float>(d.numKvHeads),
                         .v = d.v.heads<const float>(d.numKvHeads),
                         .out = d.out.heads<float>(d.numHeads),
                         .options = read_options(d),
                         .extras = read_extras(d),
                         .cache = object<KvCache>(d.cache)},
                        scratch());
}

Status createLayer(Descriptor& d) noexcept {
  return make<MultiHeadAttention>(d, [&](MultiHeadAttention& layer) noexcept {
    return MultiHeadAttention::create(read_config(d), read_weights(d), layer);
  });
}

Status forwardLayer(Descriptor& d) noexcept {
  return object<MultiHeadAttention>(d.handle)->forward({.x = d.q.view<const float>(),
                                                        .context = d.k.view<const float>(),
                                                        .y = d.out.view<float>(),
                                                        .options = read_options(d),
                                                        .extras = read_extras(d),
                                                        .cache = object<KvCache>(d.cache)},
                                                       scratch());
}

Status destroyLayer(Descriptor& d) noexcept { return destroy<MultiHeadAttention>(d); }

Status createBlock(Descriptor& d) noexcept {
  return make<TransformerBlock>(d, [&](TransformerBlock& block) noexcept {
    return TransformerBlock::create(read_block_config(d), read_block_weights(d), block);
  });
}

Status forwardBlock(Descriptor& d) noexcept {
  return object<TransformerBlock>(d.handle)->forward(
      {.x = d.q.view<const float>(),
       .context = d.k.view<const float>(),
       .y = d.out.view<float>(),
       .options = read_options(d),
       .extras = read_extras(d),
       .cache = object<KvCache>(d.cache),
       .context_key_lengths = d.contextKeyLengths.view<const std::int32_t>()},
      scratch());
}

Status destroyBlock(Descriptor& d) noexcept { return destroy<TransformerBlock>(d); }

Status createCache(Descriptor& d) noexcept {
  return make<KvCache>(d, [&](KvCache& cache) noexcept {
    return KvCache::create({.batch = whole(d.batch),
                            .num_kv_heads = whole(d.numKvHeads),
                            .capacity = whole(d.capacity),
                            .d_k = whole(d.dK),
                            .d_v = whole(d.dV)},
                           cache);
  });
}

Status appendCache(Descriptor& d) noexcept {
  return object<KvCache>(d.cache)->append(d.k.heads<const float>(d.numKvHeads),
                                          d.v.heads<const float>(d.numKvHeads));
}

Status truncateCache(Descriptor& d) noexcept {
  return object<KvCache>(d.cache)->truncate(whole(d.length));
}

/// Keys to d.k, values to d.v, whichever are given.
Status readCache(Descriptor& d) noexcept {
  const auto* cache = object<KvCache>(d.cache);
  return d.k.rank > 0 ? cache->read_keys(d.k.view<float>()) : cache->read_values(d.v.view<float>());
}

Status destroyCache(Descriptor& d) noexcept { return destroy<KvCache>(d); }

}  // namespace qkv::wasm
