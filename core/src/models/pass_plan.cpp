#include "models/pass_plan.hpp"

#include "base/float_count.hpp"

namespace qkv {

Status PassPlan::make(const ModelState& state, const LanguageModel::ForwardArgs& args,
                      KvCache* cache, int threads) noexcept {
  // A model has one rotation, one set of slopes and one kind of attention; windows alone differ from layer to layer.
  const LayerAttention& layer = state.layers[0].config.attention;
  const Index batch = args.ids.extent(0);
  const Index length = args.ids.extent(1);
  if (layer.rotary) {
    RotaryOptions options = *layer.rotary;
    options.offset = cache ? cache->length() : 0;
    QKV_RETURN_IF_ERROR(
        plan_rotary(kModelForward, *state.kernels, options, {batch, length, layer.d_k}, rotary_));
  }
  // Planning reads shapes only; a pointer that is not null stands for the memory of each layer.
  float later = 0.0F;
  const auto heads = [&](Index count) {
    return split_heads(&later, batch, length, count, layer.d_k);
  };
  AttentionArgs& a = attention_args_;
  a.q = heads(layer.num_heads);
  a.k = heads(layer.num_kv_heads);
  a.v = heads(layer.num_kv_heads);
  a.out = heads(layer.num_heads);
  a.options = attention_options(layer);
  a.options.key_lengths = args.key_lengths;
  if (layer.alibi) {
    a.options.alibi_slopes = {state.slopes.data(), {layer.num_heads}};
  }
  a.cache = cache;
  attention_.threads = threads;
  return plan_attention(kModelForward, *state.kernels, a, attention_);
}

std::size_t PassPlan::scratch(const ModelState& state, Index tokens) noexcept {
  const LayerAttention& layer = state.layers[0].config.attention;
  if (!layer.rotary) {
    return 0;
  }
  const Index width = layer.rotary->rotary_dim == 0 ? layer.d_k : layer.rotary->rotary_dim;
  return capped_product(2, Workspace::padded(capped_product(tokens, width / 2)));
}

void PassPlan::take(Index tokens, Workspace& workspace) noexcept {
  rotary_.shape.tokens = tokens;
  rotations_ = take_rows(rotary_, workspace);
}

void PassPlan::begin(const ModelPiece& piece) noexcept {
  piece_ = piece;
  if (rotary_.kernels) {
    rotary_.options.offset = piece.before + piece.begin;
    rotary_.shape.tokens = piece.tokens();
    fill_angles(rotary_, 0, rotations_);
  }
}

void PassPlan::rotate(const TensorView<float>& heads, Index first) const noexcept {
  RotaryPlan some = rotary_;
  some.shape.tokens = heads.extent(2);
  const Index skipped = first * some.pairs();
  const RotaryRows rows{rotations_.cos + skipped, rotations_.sin + skipped};
  for (Index b = 0; b < heads.extent(0); ++b) {
    rotate_heads(some, rows, b, heads, heads);
  }
}

void PassPlan::rotate(const PassHeads& heads) const noexcept {
  if (rotary_.kernels) {
    rotate(heads.q, heads.first);
    rotate(heads.k, 0);
  }
}

void PassPlan::attend(const PassHeads& heads, const LayerAttention& layer, KvCache* cache,
                      const AttentionExtras& extras, Workspace& workspace) const noexcept {
  AttentionArgs args = attention_args_;
  args.q = heads.q;
  args.k = heads.k;
  args.v = heads.v;
  args.out = heads.out;
  args.cache = cache;
  args.extras = extras;
  args.options.window_left = layer.window;
  args.options.causal_offset = piece_.before + piece_.begin + heads.first;
  AttentionPlan plan = attention_;
  plan.shape.tq = heads.q.extent(2);
  plan.shape.tk = piece_.before + piece_.end;
  run_attention(plan, args, workspace);
}

}  // namespace qkv
