#include "qkv/transformer.hpp"

#include <algorithm>
#include <cstring>

#include "attention/kv_cache_access.hpp"
#include "base/float_count.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "layers/multi_head_call.hpp"
#include "rows/over_rows.hpp"

namespace qkv {
namespace {

constexpr const char* kBlockCreate = "TransformerBlock::create";
constexpr const char* kBlockForward = "TransformerBlock::forward";

Status check_config(const TransformerBlockConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_choice(kBlockCreate, "norm", c.norm, NormPlacement::kPost));
  QKV_RETURN_IF_ERROR(check_choice(kBlockCreate, "norm_type", c.norm_type, NormType::kRms));
  QKV_RETURN_IF_ERROR(check_epsilon(kBlockCreate, "epsilon", c.epsilon));
  const Index d_context = c.attention.d_context;
  if (!c.cross_attention && d_context != 0 && d_context != c.attention.d_model) {
    return refuse(
        StatusCode::kInvalidArgument, kBlockCreate,
        "@attention.d_context is {} without @cross_attention, expected 0 or @d_model = {}",
        d_context, c.attention.d_model);
  }
  return {};
}

/// Without cross-attention its weights have no place.
Status check_cross(const TransformerBlockConfig& c, const TransformerBlockWeights& w) noexcept {
  using W = MultiHeadAttentionWeights;
  bool given = false;
  for (auto part : {&W::wq, &W::wk, &W::wv, &W::wqkv, &W::wo, &W::bq, &W::bk, &W::bv, &W::bqkv,
                    &W::bo, &W::q_gamma, &W::k_gamma, &W::q_beta, &W::k_beta}) {
    given = given || !(w.cross.*part).absent();
  }
  const bool norm_given = !w.norm_cross.gamma.absent() || !w.norm_cross.beta.absent();
  if (c.cross_attention || !(given || norm_given)) {
    return {};
  }
  return refuse(StatusCode::kInvalidArgument, kBlockCreate,
                "{} is given, expected none without @cross_attention",
                given ? "@cross" : "@norm_cross");
}

/// `caller` has the prefix of the norm, such as "norm1.".
Status check_norm(const Caller& caller, const NormWeights& norm,
                  const TransformerBlockConfig& c) noexcept {
  if (norm.gamma.absent()) {
    return refuse(StatusCode::kInvalidArgument, caller, "@gamma is missing, expected {}",
                  Extents({c.attention.d_model}));
  }
  QKV_RETURN_IF_ERROR(check_array(caller, "gamma", norm.gamma, {c.attention.d_model}));
  if (norm.beta.absent()) {
    return {};
  }
  if (c.norm_type == NormType::kRms) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@beta is {}, expected none: RMS normalisation has no beta", Extents(norm.beta));
  }
  return check_array(caller, "beta", norm.beta, {c.attention.d_model});
}

Status copy(TensorView<const float> from, AlignedBuffer& to) noexcept {
  if (from.absent()) {
    return {};
  }
  const auto count = static_cast<std::size_t>(from.size());
  QKV_RETURN_IF_ERROR(to.reserve(count));
  std::memcpy(to.data(), from.data, count * sizeof(float));
  return {};
}

}  // namespace

Status TransformerBlock::build_layers(const TransformerBlockWeights& weights) noexcept {
  TransformerBlockConfig& c = config_;
  MultiHeadAttentionConfig self = c.attention;
  self.d_context = 0;
  QKV_RETURN_IF_ERROR(MultiHeadAttention::build({kBlockCreate, "attention."}, *kernels_, self,
                                                weights.attention, attention_));
  if (c.cross_attention) {
    MultiHeadAttentionConfig cross = c.attention;
    cross.rotary.reset();
    QKV_RETURN_IF_ERROR(MultiHeadAttention::build({kBlockCreate, "cross."}, *kernels_, cross,
                                                  weights.cross, cross_));
  }
  QKV_RETURN_IF_ERROR(FeedForward::build(kBlockCreate, *kernels_,
                                         {.d_model = c.attention.d_model,
                                          .d_feed_forward = c.d_feed_forward,
                                          .activation = c.activation,
                                          .weight_layout = c.attention.weight_layout},
                                         weights.feed_forward, feed_forward_));
  c.attention = attention_.config();
  c.attention.d_context = (c.cross_attention ? cross_ : attention_).config().d_context;
  return {};
}

Status TransformerBlock::build_norms(const TransformerBlockWeights& weights) noexcept {
  const struct {
    const char* prefix;
    const NormWeights& weights;
    Norm* norm;
    bool used;
  } parts[] = {{"norm1.", weights.norm1, &norm1_, true},
               {"norm_cross.", weights.norm_cross, &norm_cross_, config_.cross_attention},
               {"norm2.", weights.norm2, &norm2_, true}};
  for (const auto& part : parts) {
    if (part.used) {
      QKV_RETURN_IF_ERROR(check_norm({kBlockCreate, part.prefix}, part.weights, config_));
      QKV_RETURN_IF_ERROR(copy(part.weights.gamma, part.norm->gamma));
      QKV_RETURN_IF_ERROR(copy(part.weights.beta, part.norm->beta));
    }
  }
  return {};
}

Status TransformerBlock::create(const TransformerBlockConfig& config,
                                const TransformerBlockWeights& weights,
                                TransformerBlock& block) noexcept {
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kBlockCreate, table));
  QKV_RETURN_IF_ERROR(check_config(config));
  QKV_RETURN_IF_ERROR(check_cross(config, weights));
  TransformerBlock built;
  built.config_ = config;
  built.kernels_ = table;
  QKV_RETURN_IF_ERROR(built.build_layers(weights));
  QKV_RETURN_IF_ERROR(built.build_norms(weights));
  block = std::move(built);
  return {};
}

/// Checks one call and measures what it needs.
struct TransformerBlock::Call {
  ThreadPool* pool = nullptr;
  Index tokens = 0;
  MultiHeadAttention::ForwardArgs self_args, cross_args;
  MultiHeadAttention::Call self, cross;
  std::size_t array = 0;  ///< floats of one array like x
  std::size_t kept = 0;   ///< floats that live through all sub-layers
  std::size_t mark = 0;   ///< of the workspace, after these
  std::size_t total = 0;
  float* normed = nullptr;  ///< input of a sub-layer with kPre
  float* sub = nullptr;     ///< output of a sub-layer
  float* y = nullptr;
};

Status TransformerBlock::check(const kernels::KernelTable& table, const ForwardArgs& args,
                               Call& call) const noexcept {
  if (!kernels_) {
    return refuse(StatusCode::kInvalidArgument, kBlockForward,
                  "the block is empty, expected one made by create()");
  }
  const Index d_model = config_.attention.d_model;
  QKV_RETURN_IF_ERROR(check_dense(kBlockForward, "x", args.x, {kAny, kAny, d_model}));
  QKV_RETURN_IF_ERROR(
      check_dense(kBlockForward, "y", args.y, {args.x.extent(0), args.x.extent(1), d_model}));
  // Shapes are what counts here; run_part() says where the arrays really are.
  call.self_args = {.x = args.x,
                    .context = {},
                    .y = args.y,
                    .options = args.options,
                    .extras = args.extras,
                    .cache = args.cache};
  QKV_RETURN_IF_ERROR(attention_.check(kBlockForward, table, call.self_args, call.self));
  QKV_RETURN_IF_ERROR(check_context(table, args, call));

  call.tokens = args.x.extent(0) * args.x.extent(1);
  call.array = Workspace::padded(capped(args.x.size()));
  call.kept = config_.norm == NormPlacement::kPre ? capped_sum({call.array, call.array})
                                                  : capped(call.array);
  std::size_t most = std::max(call.self.scratch(), feed_forward_.scratch(call.tokens));
  if (config_.cross_attention) {
    most = std::max(most, call.cross.scratch());
  }
  call.total = capped_sum({call.kept, most});
  return {};
}

Status TransformerBlock::check_context(const kernels::KernelTable& table, const ForwardArgs& args,
                                       Call& call) const noexcept {
  if (!config_.cross_attention) {
    const bool context = !args.context.absent();
    if (!context && args.context_key_lengths.absent()) {
      return {};
    }
    return refuse(StatusCode::kInvalidArgument, kBlockForward,
                  "{} is given, expected none: the block has no cross-attention",
                  context ? "@context" : "@context_key_lengths");
  }
  const Index batch = args.x.extent(0);
  if (args.context.absent()) {
    return refuse(StatusCode::kInvalidArgument, kBlockForward, "@context is missing, expected {}",
                  Extents({batch, kAny, config_.attention.d_context}));
  }
  QKV_RETURN_IF_ERROR(check_dense(kBlockForward, "context", args.context,
                                  {batch, kAny, config_.attention.d_context}));
  call.cross_args.x = args.x;
  call.cross_args.context = args.context;
  call.cross_args.y = args.y;
  call.cross_args.options.key_lengths = args.context_key_lengths;
  return cross_.check({kBlockForward, "context_"}, table, call.cross_args, call.cross);
}

void TransformerBlock::normalize(const Norm& norm, const float* x, const Call& call,
                                 float* out) const noexcept {
  normalize_rows(*kernels_, call.pool,
                 {.rows = call.tokens,
                  .n = config_.attention.d_model,
                  .x = x,
                  .out = out,
                  .gamma = norm.gamma.data(),
                  .beta = norm.beta.data(),
                  .epsilon = config_.epsilon,
                  .centre = config_.norm_type == NormType::kLayer});
}

/// call.sub = part(x).
void TransformerBlock::run_part(Part part, const float* x, Call& call,
                                Workspace& workspace) const noexcept {
  if (part == Part::kFeedForward) {
    feed_forward_.run(x, call.tokens, call.sub, workspace);
    return;
  }
  const bool cross = part == Part::kCross;
  auto& args = cross ? call.cross_args : call.self_args;
  args.x.data = x;
  args.y.data = call.sub;
  (cross ? cross_ : attention_).run(args, cross ? call.cross : call.self, workspace);
}

/// One sub-layer with its residual and norm, from x to call.y, which may be x.
void TransformerBlock::sublayer(Part part, const float* x, Call& call,
                                Workspace& workspace) const noexcept {
  const Norm& norm = part == Part::kAttention ? norm1_
                     : part == Part::kCross   ? norm_cross_
                                              : norm2_;
  const bool pre = config_.norm == NormPlacement::kPre;
  workspace.rewind(call.mark);  // what the sub-layer before this one took
  if (pre) {
    normalize(norm, x, call, call.normed);
  }
  run_part(part, pre ? call.normed : x, call, workspace);
  const Index elements = call.tokens * config_.attention.d_model;
  add_rows(*kernels_, call.pool, {.n = elements, .x = x, .y = call.sub, .out = call.y});
  if (!pre) {
    normalize(norm, call.y, call, call.y);
  }
}

Status TransformerBlock::forward(const ForwardArgs& args, Workspace& workspace) const noexcept {
  Call call;
  call.pool = workspace.pool();
  call.self.plan.threads = call.cross.plan.threads = workspace.threads();
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kBlockForward, table));
  QKV_RETURN_IF_ERROR(check(*table, args, call));
  QKV_RETURN_IF_ERROR(workspace.begin(call.total));
  const bool in_place = args.y.data == args.x.data;
  QKV_RETURN_IF_ERROR(check_attention_memory(kBlockForward, {"y", args.y},
                                             {{{"x", in_place ? TensorView<const float>{} : args.x},
                                               {"context", args.context},
                                               {"context_key_lengths", args.context_key_lengths}}},
                                             call.self.attention));
  QKV_RETURN_IF_ERROR(KvCacheAccess::make_room(args.cache, args.x.extent(1)));
  call.sub = workspace.take(call.array);
  call.normed = config_.norm == NormPlacement::kPre ? workspace.take(call.array) : nullptr;
  call.mark = workspace.mark();
  call.y = args.y.data;
  sublayer(Part::kAttention, args.x.data, call, workspace);
  if (config_.cross_attention) {
    sublayer(Part::kCross, call.y, call, workspace);
  }
  sublayer(Part::kFeedForward, call.y, call, workspace);
  return {};
}

std::size_t TransformerBlock::forward_scratch_bytes(const ForwardArgs& args,
                                                    int threads) const noexcept {
  Call call;
  call.self.plan.threads = call.cross.plan.threads = threads;
  const kernels::KernelTable* table = active_kernels();
  return table && check(*table, args, call).ok() ? call.total * sizeof(float) : 0;
}

}  // namespace qkv
