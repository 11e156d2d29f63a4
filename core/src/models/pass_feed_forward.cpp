// The feed-forward sub-layers of a pass, with one map or with experts.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/portable_math.hpp"
#include "base/share.hpp"
#include "models/model_pass.hpp"
#include "rows/activation_kernel.hpp"
#include "rows/over_rows.hpp"

namespace qkv {
namespace {

/// Turns the logits of a row into the shares of the experts: softmax, and 0 of all but the `used` greatest. Of equal ones the
/// first is used.
void share_row(float* row, Index experts, Index used, bool normalized) noexcept {
  const auto most = static_cast<double>(*std::max_element(row, row + experts));
  const auto exponential = [&](Index e) {
    return natural_power(static_cast<double>(row[e]) - most);
  };
  double total = 0.0;
  for (Index e = 0; e < experts; ++e) {
    total += exponential(e);
  }
  for (Index e = 0; e < experts; ++e) {
    row[e] = static_cast<float>(exponential(e) / total);
  }
  // Those that are used change their sign, which a zero has too.
  double sum = 0.0;
  for (Index n = 0; n < used; ++n) {
    Index best = -1;
    for (Index e = 0; e < experts; ++e) {
      if (!std::signbit(row[e]) && (best < 0 || row[e] > row[best])) {
        best = e;
      }
    }
    if (best >= 0) {  // none is left of numbers that are none
      sum += static_cast<double>(row[best]);
      row[best] = -row[best];
    }
  }
  const double scale = normalized ? sum : 1.0;
  for (Index e = 0; e < experts; ++e) {
    row[e] = std::signbit(row[e]) ? static_cast<float>(static_cast<double>(-row[e]) / scale) : 0.0F;
  }
}

}  // namespace

/// h = f(h), or f(gate) h in layers with a gate, of which GEGLU overwrites the gate.
void ModelPass::activate(float* h, Index elements) const noexcept {
  const kernels::KernelTable& table = *state_.kernels;
  if (!gate_) {
    const bool squared = c_.activation == ModelActivation::kRelu2;
    const Activation f = squared ? Activation::kRelu : activation_of(c_.activation);
    activate_rows(table, pool_, f, h, elements);
    if (squared) {
      over_elements(pool_, table.multiply, {.n = elements, .x = h, .y = h, .out = h});
    }
    return;
  }
  if (c_.activation == ModelActivation::kSwiglu) {
    over_elements(pool_, table.silu_times, {.n = elements, .x = gate_, .y = h, .out = h});
    return;
  }
  const bool exact = c_.activation == ModelActivation::kGeglu;
  share(pool_, elements, kShareElements, [&](Index begin, Index end) noexcept {
    float* open = gate_ + begin;
    const Index n = end - begin;
    (exact ? table.gelu : table.gelu_tanh)({.n = n, .x = open, .y = nullptr, .out = open});
    table.multiply({.n = n, .x = open, .y = h + begin, .out = h + begin});
  });
}

/// At most kHiddenTokens rows through the maps of a layer or of an expert.
template <class Maps>
void ModelPass::apply_feed_forward(const Maps& maps, const DenseRows& x, float* y) noexcept {
  if (gate_) {
    const LinearRows from = inputs({&maps.w1, &maps.w_gate}, x, stream_q_);
    apply_maps({{&maps.w1, h_}, {&maps.w_gate, gate_}}, from);
  } else {
    apply_map(maps.w1, inputs({&maps.w1}, x, stream_q_), h_);
  }
  activate(h_, x.rows * c_.d_feed_forward);
  if (sites_.visits(ModelSite::kNeurons)) {
    hidden_rows_.data = h_;
    sites_.visit(ModelSite::kNeurons, hidden_rows_);
  }
  apply_map(maps.w2, inputs({&maps.w2}, {h_, x.rows, c_.d_feed_forward}, hidden_q_), y);
}

/// Each expert takes the rows that it has a share in, one expert after another, so that the sum of a row has one order whatever
/// the other rows are.
void ModelPass::apply_experts(const ModelLayer& layer, const DenseRows& x, float* y) noexcept {
  const Index d = x.width;
  const Index experts = layer.experts.size();
  apply_map(layer.router, inputs({&layer.router}, x, stream_q_), shares_);
  for (Index r = 0; r < x.rows; ++r) {
    share_row(shares_ + r * experts, experts, c_.experts_per_token, c_.normalized_experts);
  }
  std::fill_n(y, x.rows * d, 0.0F);
  for (Index e = 0; e < experts; ++e) {
    const auto share_of = [&](Index r) { return shares_[r * experts + e]; };
    Index count = 0;
    for (Index r = 0; r < x.rows; ++r) {
      if (share_of(r) != 0.0F) {
        std::memcpy(routed_ + count++ * d, x.x + r * d, bytes_of(d));
      }
    }
    if (count == 0) {
      continue;
    }
    apply_feed_forward(layer.experts[e], {routed_, count, d}, made_);
    const float* made = made_;
    for (Index r = 0; r < x.rows; ++r) {
      const float share = share_of(r);
      for (Index i = 0; share != 0.0F && i < d; ++i) {
        y[r * d + i] += share * *made++;
      }
    }
  }
}

void ModelPass::feed_forward(const ModelLayer& layer, const float* x, const Rows& rows,
                             float* y) noexcept {
  const Index all = rows.count(needs_.batch);
  for (Index first = 0; first < all; first += kHiddenTokens) {
    const Index count = std::min(kHiddenTokens, all - first);
    const DenseRows part = {x + first * c_.d_model, count, c_.d_model};
    float* to = y + first * c_.d_model;
    hidden_rows_ = {
        nullptr, 0,    c_.d_feed_forward, rows.per_batch, sites_.piece().begin + rows.first,
        first,   count};
    if (layer.config.num_experts > 0) {
      apply_experts(layer, part, to);
    } else {
      apply_feed_forward(layer, part, to);
    }
  }
}

}  // namespace qkv
