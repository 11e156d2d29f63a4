#include "qkv/feed_forward.hpp"

#include "base/float_count.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "rows/activation_kernel.hpp"
#include "rows/over_rows.hpp"
#include "weights/linear_product.hpp"
#include "weights/packed_linear.hpp"

namespace qkv {
namespace {

using kernels::KernelTable;

constexpr const char* kFeedForward = "FeedForward::forward";

Status check_config(const Caller& caller, const FeedForwardConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "d_model", c.d_model));
  QKV_RETURN_IF_ERROR(check_size(caller, "d_feed_forward", c.d_feed_forward));
  if (c.activation > FeedForwardActivation::kSwiglu) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@activation is {}, expected a value of FeedForwardActivation", c.activation);
  }
  return check_layout(caller, "weight_layout", c.weight_layout);
}

/// A gate is for kSwiglu alone.
Status check_gate(const Caller& caller, const FeedForwardConfig& c,
                  const FeedForwardWeights& w) noexcept {
  if (c.activation == FeedForwardActivation::kSwiglu || (w.w_gate.absent() && w.b_gate.absent())) {
    return {};
  }
  return refuse(StatusCode::kInvalidArgument, caller,
                "{} is given and @activation is not kSwiglu, expected none",
                Argument{w.w_gate.absent() ? "b_gate" : "w_gate"});
}

}  // namespace

Status FeedForward::create(const FeedForwardConfig& config, const FeedForwardWeights& weights,
                           FeedForward& layer) noexcept {
  constexpr const char* kName = "FeedForward::create";
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  return build(kName, *table, config, weights, layer);
}

Status FeedForward::build(const Caller& caller, const KernelTable& table,
                          const FeedForwardConfig& config, const FeedForwardWeights& weights,
                          FeedForward& layer) noexcept {
  QKV_RETURN_IF_ERROR(check_config(caller, config));
  QKV_RETURN_IF_ERROR(check_gate(caller, config, weights));
  FeedForward built;
  built.config_ = config;
  const FeedForwardConfig& c = config;
  const FeedForwardWeights& w = weights;
  const struct {
    WeightMatrix linear;
    PackedLinear* packed;
  } parts[] = {
      {{"w1", "b1", w.w1, w.b1, c.d_model, c.d_feed_forward, c.weight_layout}, &built.w1_},
      {{"w2", "b2", w.w2, w.b2, c.d_feed_forward, c.d_model, c.weight_layout}, &built.w2_},
      {{"w_gate", "b_gate", w.w_gate, w.b_gate, c.d_model, c.d_feed_forward, c.weight_layout},
       &built.w_gate_},
  };
  const std::size_t count = c.activation == FeedForwardActivation::kSwiglu ? 3 : 2;
  for (std::size_t i = 0; i < count; ++i) {
    QKV_RETURN_IF_ERROR(check_linear(caller, parts[i].linear));
  }
  for (std::size_t i = 0; i < count; ++i) {
    QKV_RETURN_IF_ERROR(pack_linear(table, parts[i].linear, *parts[i].packed));
  }
  built.kernels_ = &table;
  layer = std::move(built);
  return {};
}

Status FeedForward::check(const ForwardArgs& args) const noexcept {
  if (!kernels_) {
    return refuse(StatusCode::kInvalidArgument, kFeedForward,
                  "the layer is empty, expected one made by create()");
  }
  QKV_RETURN_IF_ERROR(check_dense(kFeedForward, "x", args.x, {kAny, kAny, config_.d_model}));
  QKV_RETURN_IF_ERROR(check_dense(kFeedForward, "y", args.y,
                                  {args.x.extent(0), args.x.extent(1), config_.d_model}));
  if (args.y.data != args.x.data) {
    QKV_RETURN_IF_ERROR(check_apart(kFeedForward, {{"y", args.y}}, {{"x", args.x}}));
  }
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kFeedForward, table));
  return check_same_kernels(kFeedForward, "the layer", kernels_, table);
}

std::size_t FeedForward::scratch(Index tokens) const noexcept {
  const Index block = tokens < kHiddenTokens ? tokens : kHiddenTokens;
  const std::size_t hidden = Workspace::padded(capped_product(block, config_.d_feed_forward));
  return config_.activation == FeedForwardActivation::kSwiglu ? capped_sum({hidden, hidden})
                                                              : capped(hidden);
}

void FeedForward::run(const float* x, Index tokens, float* y, Workspace& workspace) const noexcept {
  const KernelTable& table = *kernels_;
  ThreadPool* pool = workspace.pool();
  const bool gated = config_.activation == FeedForwardActivation::kSwiglu;
  const Index block = tokens < kHiddenTokens ? tokens : kHiddenTokens;
  const auto hidden =
      static_cast<std::size_t>(block) * static_cast<std::size_t>(config_.d_feed_forward);
  float* h = workspace.take(hidden);
  float* gate = gated ? workspace.take(hidden) : nullptr;
  for (Index first = 0; first < tokens; first += block) {
    const Index rows = tokens - first < block ? tokens - first : block;
    const Index elements = rows * config_.d_feed_forward;
    const float* from = x + first * config_.d_model;
    apply(table, pool, w1_, {from, rows, h});
    if (gated) {
      apply(table, pool, w_gate_, {from, rows, gate});
      over_elements(pool, table.silu_times, {.n = elements, .x = gate, .y = h, .out = h});
    } else {
      activate_rows(table, pool, activation_of(config_.activation), h, elements);
    }
    apply(table, pool, w2_, {h, rows, y + first * config_.d_model});
  }
}

Status FeedForward::forward(const ForwardArgs& args, Workspace& workspace) const noexcept {
  QKV_RETURN_IF_ERROR(check(args));
  const Index tokens = args.x.extent(0) * args.x.extent(1);
  QKV_RETURN_IF_ERROR(workspace.begin(scratch(tokens)));
  run(args.x.data, tokens, args.y.data, workspace);
  return {};
}

std::size_t FeedForward::forward_scratch_bytes(const ForwardArgs& args) const noexcept {
  return check(args).ok() ? scratch(args.x.extent(0) * args.x.extent(1)) * sizeof(float) : 0;
}

}  // namespace qkv
