#include "models/pass_needs.hpp"

#include <algorithm>

#include "attention/attention_cut.hpp"
#include "attention/head_rows.hpp"
#include "models/call_sessions.hpp"
#include "models/head_product.hpp"
#include "models/pass_plan.hpp"
#include "rows/activation_kernel.hpp"
#include "weights/linear_product.hpp"

namespace qkv {
namespace {

/// What attention takes of the workspace, whatever the piece: the most of the first and the last, with all rows and with one.
std::size_t attention_needs(const ModelState& state, const ModelNeeds& needs,
                            const CallSessions& sessions, Index set, int threads) noexcept {
  const LanguageModelConfig& c = state.config;
  const Index before = sessions.length(set);
  std::size_t most = 0;
  for (Index begin = 0; begin < needs.length; begin += needs.piece) {
    const Index end = std::min(needs.length, begin + needs.piece);
    for (const Index queries : {Index{1}, end - begin}) {
      AttentionPlan plan;
      plan.table = state.kernels;
      plan.threads = threads;
      plan.shape = {.batch = sessions.rows_of_set(),
                    .num_heads = c.num_heads,
                    .num_kv_heads = c.num_kv_heads,
                    .tq = queries,
                    .tk = before + end,
                    .dk = c.d_k,
                    .dv = c.d_k};
      most = std::max(most, AttentionCut(plan, sessions.any()).total());
      if (c.encoder_layers > 0) {
        plan.shape.tk = sessions[set]->source_length();
        most = std::max(most, AttentionCut(plan, true).total());
      }
    }
  }
  return most;
}

/// What readings and edits take besides.
void add_site_needs(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args,
                    int threads, ModelNeeds& needs) noexcept {
  using enum ModelSite;
  needs.keys_read = needs.length + (args.session ? args.session->length() : 0);
  const auto reads = [&](ModelSite site) {
    return std::any_of(args.readings.begin(), args.readings.end(),
                       [&](const ModelReading& each) { return each.site == site; });
  };
  for (const ModelEdit& edit : args.edits) {
    if (has_keys(edit.site)) {
      needs.changes =
          capped_product(threads, HeadRowChanges::thread_floats(needs.keys_read, c.d_k));
    }
  }
  if (reads(kHeads) || reads(kNormWeights)) {
    needs.products =
        HeadProduct::floats(detail::saturated_product(c.num_heads, c.d_k), c.d_k, threads);
  }
  if (reads(kNormWeights)) {
    needs.brought = capped_product(kNormKeys, capped_product(c.num_heads, c.d_model));
    needs.values = capped_product(kNormKeys, capped_product(c.num_kv_heads, c.d_k));
  }
  if (reads(kEntropy)) {
    needs.entropy = capped_product(needs.batch, capped_product(c.num_heads, needs.piece));
  }
}

}  // namespace

ModelNeeds needs_of(const ModelState& state, const LanguageModel::ForwardArgs& args,
                    int threads) noexcept {
  const LanguageModelConfig& c = state.config;
  ModelNeeds needs;
  needs.batch = args.ids.extent(0);
  needs.length = args.ids.extent(1);
  const CallSessions sessions(args);
  needs.piece = sessions.any() ? std::min(needs.length, kernels::kPieceTokens) : needs.length;
  needs.last_logits = args.logits.extent(1) == 1 && needs.length > 1;
  needs.last_hidden = args.hidden.extent(1) == 1 && needs.length > 1;
  needs.every_row = (!args.logits.absent() && !needs.last_logits) ||
                    (!args.hidden.absent() && !needs.last_hidden) || !args.surprisal.absent() ||
                    !args.key_lengths.absent();
  for (const ModelReading& reading : args.readings) {
    needs.every_row =
        needs.every_row || reading.layer == c.num_layers - 1 || reading.site == ModelSite::kFinal;
  }
  for (const ModelLens& lens : args.lenses) {
    needs.every_row = needs.every_row || lens.layer == c.num_layers - 1;
  }
  const Index rows = detail::saturated_product(needs.batch, needs.piece);
  const Index of_q = detail::saturated_product(c.num_heads, c.d_k);
  const Index of_kv = detail::saturated_product(c.num_kv_heads, c.d_k);
  const Index hidden_rows = std::min(rows, kHiddenTokens);
  needs.stream = capped_product(rows, c.d_model);
  needs.queries = capped_product(rows, of_q);
  needs.keys = capped_product(rows, of_kv);
  needs.hidden = capped_product(hidden_rows, c.d_feed_forward);
  needs.gated = is_gated(c.activation);
  if (c.num_experts > 0) {
    needs.shares = capped_product(hidden_rows, c.num_experts);
    needs.routed = capped_product(hidden_rows, c.d_model);
  }
  if (state.quantized_rows) {
    needs.quantized = quantized_floats(*state.kernels, rows, std::max(c.d_model, of_q));
    needs.quantized_hidden = quantized_floats(*state.kernels, hidden_rows, c.d_feed_forward);
  }
  if (!args.surprisal.absent() || !args.lenses.empty()) {
    needs.logits = capped_product(kLogitRows, head_outputs(c));
  }
  if (c.head_pooling != HeadPooling::kNone && !args.logits.absent()) {
    needs.pooled = capped_product(needs.batch, c.d_model);
    needs.every_row = needs.every_row || c.head_pooling != HeadPooling::kLast;
  }
  needs.rotary = PassPlan::scratch(state, needs.piece, sessions.sets());
  for (Index set = 0; set < sessions.sets(); ++set) {
    needs.attention =
        std::max(needs.attention, attention_needs(state, needs, sessions, set, threads));
  }
  add_site_needs(c, args, threads, needs);
  return needs;
}

std::size_t ModelNeeds::total() const noexcept {
  const auto padded = [](std::size_t n) { return Workspace::padded(n); };
  return capped_sum({3 * padded(stream), 2 * padded(queries), 2 * padded(keys),
                     (gated ? 2U : 1U) * padded(hidden), padded(quantized),
                     padded(quantized_hidden), padded(shares), 2 * padded(routed), padded(logits),
                     padded(pooled), attention, rotary, padded(changes), padded(products),
                     padded(brought), padded(values), padded(entropy)});
}

}  // namespace qkv
