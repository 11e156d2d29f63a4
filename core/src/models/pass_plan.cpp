#include "models/pass_plan.hpp"

#include "base/float_count.hpp"

namespace qkv {
namespace {

std::size_t rotation_of(const LayerAttention& layer) noexcept {
  return static_cast<std::size_t>(layer.rotation) - 1;
}

}  // namespace

Status PassPlan::make(const ModelState& state, const LanguageModel::ForwardArgs& args,
                      KvCache* cache, int threads) noexcept {
  // A model has one set of slopes and one kind of attention; windows and rotations alone differ from layer to layer.
  const LayerAttention& layer = state.layers[0].config.attention;
  const Index batch = CallSessions(args).rows_of_set();
  const Index length = args.ids.extent(1);
  state_ = &state;
  for (const ModelLayer& each : state.layers) {
    const LayerAttention& own = each.config.attention;
    if (!own.rotary) {
      continue;
    }
    RotaryPlan& plan = rotations_[rotation_of(own)].plan;
    if (!plan.kernels) {
      RotaryOptions options = *own.rotary;
      options.offset = cache ? cache->length() : 0;
      QKV_RETURN_IF_ERROR(
          plan_rotary(kModelForward, *state.kernels, options, {batch, length, own.d_k}, plan));
    }
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

std::size_t PassPlan::scratch(const ModelState& state, Index tokens, Index sets) noexcept {
  std::array<std::size_t, kRotations> of{};
  for (const ModelLayer& each : state.layers) {
    const LayerAttention& layer = each.config.attention;
    if (layer.rotary) {
      const Index width = layer.rotary->rotary_dim == 0 ? layer.d_k : layer.rotary->rotary_dim;
      of[rotation_of(layer)] =
          capped_product(2, Workspace::padded(capped_product(tokens, width / 2)));
    }
  }
  return capped_sum({capped_product(sets, capped_sum({of[0], of[1]})),
                     Workspace::padded_as<Index>(capped(sets))});
}

void PassPlan::take(Index tokens, const CallSessions& sessions, Workspace& workspace) noexcept {
  sets_ = sessions.sets();
  rows_of_set_ = sessions.rows_of_set();
  most_tokens_ = tokens;
  for (Rotation& each : rotations_) {
    for (Index set = 0; each.plan.kernels && set < sets_; ++set) {
      each.plan.shape.tokens = tokens;
      const RotaryRows rows = take_rows(each.plan, workspace);
      each.rows = set == 0 ? rows : each.rows;
    }
  }
  before_ = workspace.take_as<Index>(static_cast<std::size_t>(sets_));
  for (Index set = 0; set < sets_; ++set) {
    before_[set] = sessions.length(set);
  }
}

RotaryRows PassPlan::rows_of(const Rotation& rotation, Index set) const noexcept {
  const auto size = static_cast<std::size_t>(most_tokens_ * rotation.plan.pairs());
  const auto skipped = static_cast<Index>(2 * Workspace::padded(size)) * set;
  return {rotation.rows.cos + skipped, rotation.rows.sin + skipped};
}

void PassPlan::begin(const ModelPiece& piece) noexcept {
  piece_ = piece;
  for (Rotation& each : rotations_) {
    for (Index set = 0; each.plan.kernels && set < sets_; ++set) {
      each.plan.options.offset = before(set) + piece.begin;
      each.plan.shape.tokens = piece.tokens();
      fill_angles(each.plan, 0, rows_of(each, set));
    }
  }
}

void PassPlan::rotate(const Rotation& by, const TensorView<float>& heads,
                      Index first) const noexcept {
  RotaryPlan some = by.plan;
  some.shape.tokens = heads.extent(2);
  const Index skipped = first * some.pairs();
  for (Index b = 0; b < heads.extent(0); ++b) {
    const RotaryRows of_set = rows_of(by, set_of(b));
    rotate_heads(some, {of_set.cos + skipped, of_set.sin + skipped}, b, heads, heads);
  }
}

void PassPlan::rotate(const PassHeads& heads, const LayerAttention& layer) const noexcept {
  if (layer.rotary) {
    const Rotation& by = rotations_[rotation_of(layer)];
    rotate(by, heads.q, heads.first);
    rotate(by, heads.k, 0);
  }
}

/// Of query i and key j the bias of the distance j - i: every row of queries reads the same numbers, one further to the left than
/// the row before it, so that nothing of T x T is made.
TensorView<const float> PassPlan::relative_bias(const PassHeads& heads) const noexcept {
  const LanguageModelConfig& c = state_->config;
  if (c.relative_buckets == 0) {
    return {};
  }
  const Index first = before(heads.set) + piece_.begin + heads.first;
  TensorView<const float> view(state_->distance_bias.data() + c.max_length - 1 - first,
                               {1, c.num_heads, heads.q.extent(2), before(heads.set) + piece_.end});
  view.strides = {0, state_->distances(), -1, 1};
  return view;
}

void PassPlan::attend_source(const PassHeads& heads, KvCache& source,
                             Workspace& workspace) const noexcept {
  AttentionArgs args = attention_args_;
  args.q = heads.q;
  args.out = heads.out;
  // No new ones: all are there.
  args.k = heads.k;
  args.v = heads.v;
  args.k.shape[2] = args.v.shape[2] = 0;
  args.cache = &source;
  args.options.causal = false;
  AttentionPlan plan = attention_;
  plan.shape.tq = heads.q.extent(2);
  plan.shape.tk = source.length();
  run_attention(plan, args, workspace);
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
  args.options.window_right = layer.window_right;
  args.options.bias = relative_bias(heads);
  args.options.causal_offset = before(heads.set) + piece_.begin + heads.first;
  AttentionPlan plan = attention_;
  plan.changes = heads.changes;
  plan.shape.tq = heads.q.extent(2);
  plan.shape.tk = before(heads.set) + piece_.end;
  run_attention(plan, args, workspace);
}

}  // namespace qkv
