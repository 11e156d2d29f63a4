#include "language_model_pass.hpp"

#include <algorithm>
#include <cstring>

#include "activation_kernel.hpp"
#include "attention_plan.hpp"
#include "copy_heads.hpp"
#include "kv_cache_access.hpp"
#include "portable_math.hpp"
#include "qkv/positional.hpp"
#include "share.hpp"

namespace qkv {
namespace {

std::size_t bytes_of(Index floats) noexcept {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

/// c tanh(x / c), in double precision: tanh(y) = 1 - 2 / (exp(2 y) + 1).
void cap(float* x, Index count, double c) noexcept {
  constexpr double kTwoLog2E = 2 * 0x1.71547652b82fep+0;
  for (Index i = 0; i < count; ++i) {
    if (x[i] == x[i]) {  // NaN stays NaN
      const double y = std::clamp(static_cast<double>(x[i]) / c, -30.0, 30.0);
      x[i] = static_cast<float>(c * (1.0 - 2.0 / (power_of_two(kTwoLog2E * y) + 1.0)));
    }
  }
}

}  // namespace

std::size_t ModelNeeds::total() const noexcept {
  const auto padded = [](std::size_t n) { return Workspace::padded(n); };
  return capped_sum({3 * padded(stream), 2 * padded(queries), 2 * padded(keys),
                     (gated ? 2U : 1U) * padded(hidden), padded(quantized),
                     padded(quantized_hidden), padded(logits), attention, rotary});
}

ModelPass::ModelPass(const ModelState& state, const LanguageModel::ForwardArgs& args,
                     const ModelNeeds& needs, Workspace& workspace) noexcept
    : state_(state),
      c_(state.config),
      args_(args),
      needs_(needs),
      workspace_(workspace),
      pool_(workspace.pool()),
      x_(workspace.take(needs.stream)),
      a_(workspace.take(needs.stream)),
      s_(workspace.take(needs.stream)),
      q_(workspace.take(needs.queries)),
      k_(workspace.take(needs.keys)),
      v_(workspace.take(needs.keys)),
      o_(workspace.take(needs.queries)),
      h_(workspace.take(needs.hidden)),
      gate_(needs.gated ? workspace.take(needs.hidden) : nullptr),
      stream_q_{workspace.take(needs.quantized), {}},
      hidden_q_{workspace.take(needs.quantized_hidden), {}},
      logits_(workspace.take(needs.logits)),
      mark_(workspace.mark()) {}

// --------------------------------------------------------------------------------------- small steps

void ModelPass::normalize(const ModelNorm& norm, const float* x, float* out, Index rows,
                          Index width) const noexcept {
  share(pool_, rows, 1 + kShareElements / width, [&](Index begin, Index end) noexcept {
    state_.kernels->normalize({.rows = end - begin,
                               .n = width,
                               .x = x + begin * width,
                               .out = out + begin * width,
                               .gamma = norm.gamma.data(),
                               .beta = norm.beta.data(),
                               .epsilon = c_.epsilon,
                               .centre = c_.norm_type == NormType::kLayer});
  });
}

void ModelPass::add(float* x, const float* y, Index elements) const noexcept {
  share(pool_, elements, kShareElements, [&](Index begin, Index end) noexcept {
    state_.kernels->add({.n = end - begin, .x = x + begin, .y = y + begin, .out = x + begin});
  });
}

LinearRows ModelPass::inputs(const DenseRows& rows, Quantized& to) const noexcept {
  LinearRows from{.x = rows.x, .rows = rows.rows, .y = nullptr};
  if (state_.format == WeightFormat::kInt8) {
    to.rows = quantize_rows(*state_.kernels, pool_, rows, to.memory);
    from.quantized = &to.rows;
  }
  return from;
}

void ModelPass::apply_map(const PackedLinear& map, const LinearRows& from,
                          float* to) const noexcept {
  apply_maps({{&map, to}}, from);
}

void ModelPass::apply_maps(std::initializer_list<LinearOutput> maps,
                           const LinearRows& from) const noexcept {
  apply_all(*state_.kernels, pool_, {maps.begin(), maps.size()}, from);
}

// ---------------------------------------------------------------------------------------- embeddings

void ModelPass::embed(const ModelPiece& piece) noexcept {
  const Index d = c_.d_model;
  for (Index b = 0; b < needs_.batch; ++b) {
    for (Index t = 0; t < piece.tokens(); ++t) {
      float* row = x_ + (b * piece.tokens() + t) * d;
      const Index at = b * needs_.length + piece.begin + t;
      read_column(*state_.kernels, state_.embedding, args_.ids.data[at], row);
      for (Index i = 0; c_.embedding_scale != 1.0F && i < d; ++i) {
        row[i] *= c_.embedding_scale;
      }
      if (c_.token_types > 0) {
        const Index type = args_.token_types.absent() ? 0 : args_.token_types.data[at];
        const float* term = state_.token_types.data() + type * d;
        state_.kernels->add({.n = d, .x = row, .y = term, .out = row});
      }
    }
  }
  add_positions(piece);
  if (c_.embedding_norm) {
    normalize(state_.embedding_norm, x_, x_, needs_.batch * piece.tokens());
  }
}

void ModelPass::add_positions(const ModelPiece& piece) noexcept {
  const Index first = piece.before + piece.begin;
  const Index elements = piece.tokens() * c_.d_model;
  const float* positions = nullptr;
  if (c_.positions == ModelPositions::kLearned) {
    positions = state_.positions.data() + first * c_.d_model;
  } else if (c_.positions == ModelPositions::kSinusoidal) {
    // The lengths that are allowed end below the positions that it refuses.
    const Status made = sinusoidal_encoding({a_, {piece.tokens(), c_.d_model}}, first, {});
    positions = made.ok() ? a_ : nullptr;
  }
  for (Index b = 0; positions && b < needs_.batch; ++b) {
    add(x_ + b * elements, positions, elements);
  }
}

// ----------------------------------------------------------------------------------------- attention

/// The last token of each batch row, moved to the front of `array`.
void ModelPass::keep_last(const ModelPiece& piece, float* array) const noexcept {
  const Index d = c_.d_model;
  for (Index b = 0; b < needs_.batch; ++b) {
    std::memmove(array + b * d, array + ((b + 1) * piece.tokens() - 1) * d, bytes_of(d));
  }
}

/// q of the rows that go on; k and v of all tokens. `a` is the input; what of it does not go on is overwritten.
void ModelPass::project(const ModelLayer& layer, const ModelPiece& piece, float* a,
                        const Rows& rows) noexcept {
  const Index all = needs_.batch * piece.tokens();
  LinearRows from = inputs({a, all, c_.d_model}, stream_q_);
  if (rows.per_batch == piece.tokens()) {
    apply_maps({{&layer.wq, q_}, {&layer.wk, k_}, {&layer.wv, v_}}, from);
  } else {
    apply_maps({{&layer.wk, k_}, {&layer.wv, v_}}, from);
    keep_last(piece, a);
    if (a != x_) {
      keep_last(piece, x_);
    }
    if (rows.per_batch > 0) {
      from = inputs({a, rows.count(needs_.batch), c_.d_model}, stream_q_);
      apply_map(layer.wq, from, q_);
    }
  }
  if (c_.qk_norm) {
    normalize(layer.q_norm, q_, q_, rows.count(needs_.batch) * c_.num_heads, c_.d_k);
    normalize(layer.k_norm, k_, k_, all * c_.num_kv_heads, c_.d_k);
  }
}

Status ModelPass::turn(const ModelPiece& piece, const Rows& rows) noexcept {
  const auto queries = split_heads(q_, needs_.batch, rows.per_batch, c_.num_heads, c_.d_k);
  const auto keys = split_heads(k_, needs_.batch, piece.tokens(), c_.num_kv_heads, c_.d_k);
  RotaryOptions options = c_.rotary;
  options.offset = piece.before + piece.begin;
  RotaryPlan plan;
  QKV_RETURN_IF_ERROR(
      plan_rotary(kModelForward, options, {needs_.batch, piece.tokens(), c_.d_k}, plan));
  if (rows.per_batch == piece.tokens()) {
    rotate_in_place(plan, workspace_, {queries, keys});
    return {};
  }
  rotate_in_place(plan, workspace_, {keys});
  workspace_.rewind(mark_);
  options.offset += rows.first;
  QKV_RETURN_IF_ERROR(
      plan_rotary(kModelForward, options, {needs_.batch, rows.per_batch, c_.d_k}, plan));
  rotate_in_place(plan, workspace_, {queries});
  return {};
}

const ModelReading* ModelPass::reading(Index n) const noexcept {
  for (const ModelReading& each : args_.readings) {
    if (each.layer == n) {
      return &each;
    }
  }
  return nullptr;
}

/// The tokens of the call, of this piece, whose rows of weights and queries are read.
std::pair<Index, Index> ModelPass::rows_read(const ModelReading& of,
                                             const ModelPiece& piece) const noexcept {
  const Index end = of.row_end < 0 ? needs_.length : of.row_end;
  return {std::max(of.row_begin, piece.begin), std::min(end, piece.end)};
}

/// What is asked of the queries, keys and values of layer n. A layer that is read has the queries of all tokens.
void ModelPass::read_heads(Index n, const ModelPiece& piece) const noexcept {
  const ModelReading* to = reading(n);
  if (!to) {
    return;
  }
  const auto copy = [&](const float* from, Index heads, Index first, Index last,
                        TensorView<float> view, Index begin) {
    if (view.absent() || first >= last) {
      return;  // the first of no rows has no address
    }
    view.data += (first - begin) * view.stride(2);
    view.shape[2] = last - first;
    from += (first - piece.begin) * heads * c_.d_k;
    copy_heads(split_heads(from, needs_.batch, piece.tokens(), heads, c_.d_k), view);
  };
  const auto [first, last] = rows_read(*to, piece);
  copy(q_, c_.num_heads, first, last, to->q, to->row_begin);
  copy(k_, c_.num_kv_heads, piece.begin, piece.end, to->k, 0);
  copy(v_, c_.num_kv_heads, piece.begin, piece.end, to->v, 0);
}

/// Where the weights and entropies of this piece go. The keys that come later have weights of zero.
AttentionExtras ModelPass::extras(Index n, const ModelPiece& piece) const noexcept {
  AttentionExtras to;
  const ModelReading* from = reading(n);
  if (!from) {
    return to;
  }
  if (!from->entropy.absent()) {
    to.entropy = from->entropy;
    to.entropy.data += piece.begin * to.entropy.stride(2);
    to.entropy.shape[2] = piece.tokens();
  }
  const auto [first, last] = rows_read(*from, piece);
  if (from->weights.absent() || first >= last) {
    return to;
  }
  to.weights = from->weights;
  to.weights.data += (first - from->row_begin) * to.weights.stride(2);
  to.weights.shape[2] = last - first;
  const Index keys = piece.before + piece.end;
  for (Index b = 0; b < needs_.batch; ++b) {
    for (Index h = 0; h < c_.num_heads; ++h) {
      for (Index r = 0; r < last - first; ++r) {
        std::fill_n(to.weights.at(b, h, r) + keys, to.weights.extent(3) - keys, 0.0F);
      }
    }
  }
  to.weights.shape[3] = keys;
  to.row_begin = first - piece.begin;
  to.row_end = last - piece.begin;
  return to;
}

Status ModelPass::attend(Index n, const ModelPiece& piece, const Rows& rows) noexcept {
  const Index batch = needs_.batch;
  KvCache* cache = args_.session ? &args_.session->caches_[n] : nullptr;
  AttentionArgs args;
  args.q = split_heads<const float>(q_, batch, rows.per_batch, c_.num_heads, c_.d_k);
  args.k = split_heads<const float>(k_, batch, piece.tokens(), c_.num_kv_heads, c_.d_k);
  args.v = split_heads<const float>(v_, batch, piece.tokens(), c_.num_kv_heads, c_.d_k);
  args.out = split_heads(o_, batch, rows.per_batch, c_.num_heads, c_.d_k);
  args.cache = cache;
  if (rows.per_batch == piece.tokens()) {
    args.extras = extras(n, piece);
  }
  AttentionOptions& options = args.options;
  options.scale = c_.attention_scale;
  options.softcap = c_.attention_softcap;
  options.causal = c_.causal;
  options.window_left = state_.layers[n].window;
  options.key_lengths = args_.key_lengths;
  if (c_.positions == ModelPositions::kAlibi) {
    options.alibi_slopes = {state_.slopes.data(), {c_.num_heads}};
  }
  if (options.causal || options.window_left >= 0 || !options.alibi_slopes.absent()) {
    options.causal_offset = piece.before + piece.begin + rows.first;
  }
  AttentionPlan plan;
  plan.threads = workspace_.threads();
  QKV_RETURN_IF_ERROR(plan_attention(kModelForward, args, plan));
  return run_attention(plan, args, workspace_);
}

/// Zeros where the output of the heads that are left out would be.
void ModelPass::ablate(Index n, Index rows) const noexcept {
  for (const ModelHead& left_out : args_.ablated) {
    for (Index r = 0; left_out.layer == n && r < rows; ++r) {
      std::fill_n(o_ + (r * c_.num_heads + left_out.head) * c_.d_k, c_.d_k, 0.0F);
    }
  }
}

// -------------------------------------------------------------------------------------- feed-forward

void ModelPass::activate(float* h, const float* gate, Index elements) const noexcept {
  using M = ModelActivation;
  const kernels::KernelTable& table = *state_.kernels;
  share(pool_, elements, kShareElements, [&](Index begin, Index end) noexcept {
    const Index n = end - begin;
    float* out = h + begin;
    if (c_.activation == M::kSwiglu) {
      table.silu_times({.n = n, .x = gate + begin, .y = out, .out = out});
    } else if (gate) {
      float* open = gate_ + begin;
      const auto f = c_.activation == M::kGeglu ? table.gelu : table.gelu_tanh;
      f({.n = n, .x = open, .y = nullptr, .out = open});
      table.multiply({.n = n, .x = open, .y = out, .out = out});
    } else {  // the first four are those of Activation, in its order
      const auto f = activation_kernel(table, static_cast<Activation>(c_.activation));
      f({.n = n, .x = out, .y = nullptr, .out = out});
    }
  });
}

void ModelPass::feed_forward(const ModelLayer& layer, const float* x, Index rows,
                             float* y) noexcept {
  for (Index first = 0; first < rows; first += kHiddenTokens) {
    const Index count = std::min(kHiddenTokens, rows - first);
    const LinearRows from = inputs({x + first * c_.d_model, count, c_.d_model}, stream_q_);
    if (gate_) {
      apply_maps({{&layer.w1, h_}, {&layer.w_gate, gate_}}, from);
    } else {
      apply_map(layer.w1, from, h_);
    }
    activate(h_, gate_, count * c_.d_feed_forward);
    apply_map(layer.w2, inputs({h_, count, c_.d_feed_forward}, hidden_q_), y + first * c_.d_model);
  }
}

// --------------------------------------------------------------------------------------------- layers

/// The rows that go on after layer n: all of them, but in the last layer only those that something is asked of.
ModelPass::Rows ModelPass::rows_after(Index n, const ModelPiece& piece) const noexcept {
  if (n < c_.num_layers - 1 || needs_.every_row) {
    return {piece.tokens(), 0};
  }
  return is_last(piece) ? Rows{1, piece.tokens() - 1} : Rows{0, 0};
}

Status ModelPass::layer(Index n, const ModelPiece& piece, const Rows& rows) noexcept {
  const ModelLayer& layer = state_.layers[n];
  const bool pre = c_.norm == NormPlacement::kPre;
  const Index d = c_.d_model;
  if (pre) {
    normalize(layer.norm1, x_, a_, needs_.batch * piece.tokens());
  }
  project(layer, piece, pre ? a_ : x_, rows);
  if (c_.positions == ModelPositions::kRotary) {
    QKV_RETURN_IF_ERROR(turn(piece, rows));
    workspace_.rewind(mark_);
  }
  read_heads(n, piece);
  QKV_RETURN_IF_ERROR(attend(n, piece, rows));
  workspace_.rewind(mark_);
  const Index count = rows.count(needs_.batch);
  if (count == 0) {
    return {};
  }
  ablate(n, count);
  apply_map(layer.wo, inputs({o_, count, c_.num_heads * c_.d_k}, stream_q_), s_);
  if (c_.post_norms) {
    normalize(layer.post_norm1, s_, s_, count);
  }
  const bool feeds = c_.d_feed_forward > 0;
  if (pre && feeds && c_.parallel_residual) {
    normalize(layer.norm2, x_, a_, count);
  }
  add(x_, s_, count * d);
  if (!pre) {
    normalize(layer.norm1, x_, x_, count);
  }
  if (!feeds) {
    return {};
  }
  if (pre && !c_.parallel_residual) {
    normalize(layer.norm2, x_, a_, count);
  }
  feed_forward(layer, pre ? a_ : x_, count, s_);
  if (c_.post_norms) {
    normalize(layer.post_norm2, s_, s_, count);
  }
  add(x_, s_, count * d);
  if (!pre) {
    normalize(layer.norm2, x_, x_, count);
  }
  return {};
}

// -------------------------------------------------------------------------------------------- results

void ModelPass::write_logits(const float* x, Index rows, float* to) noexcept {
  apply_map(state_.last_map(), inputs({x, rows, c_.d_model}, stream_q_), to);
  if (c_.logit_softcap > 0.0F) {
    share(pool_, rows * c_.vocabulary, kShareElements, [&](Index begin, Index end) noexcept {
      cap(to + begin, end - begin, static_cast<double>(c_.logit_softcap));
    });
  }
}

/// The stream as the head reads it: after the last norm, with kPre.
const float* ModelPass::last_norm(Index rows) noexcept {
  if (c_.norm == NormPlacement::kPost) {
    return x_;
  }
  normalize(state_.norm, x_, a_, rows);
  return a_;
}

/// What is asked of the stream after layer n.
void ModelPass::read(Index n, const ModelPiece& piece) noexcept {
  const ModelReading* to = reading(n);
  const Index tokens = piece.tokens();
  for (Index b = 0; to && !to->residual.absent() && b < needs_.batch; ++b) {
    std::memcpy(to->residual.at(b, piece.begin), x_ + b * tokens * c_.d_model,
                bytes_of(tokens * c_.d_model));
  }
  if (!to || to->logits.absent()) {
    return;
  }
  const float* y = last_norm(needs_.batch * tokens);
  for (Index b = 0; b < needs_.batch; ++b) {
    write_logits(y + b * tokens * c_.d_model, tokens, to->logits.at(b, piece.begin));
  }
}

/// -ln p of the token after each of this piece. With p_m the probability of the largest logit m, the logarithm of the sum
/// of all exp is m - ln p_m.
void ModelPass::write_surprisal(const ModelPiece& piece, const float* y) noexcept {
  const Index v = c_.vocabulary;
  const Index tokens = std::min(piece.end, needs_.length - 1) - piece.begin;
  for (Index b = 0; b < needs_.batch; ++b) {
    for (Index first = 0; first < tokens; first += kLogitRows) {
      const Index count = std::min(kLogitRows, tokens - first);
      write_logits(y + (b * piece.tokens() + first) * c_.d_model, count, logits_);
      double above[kLogitRows];  // how far the largest logit is above that of the next token
      for (Index r = 0; r < count; ++r) {
        const float* row = logits_ + r * v;
        const Index next = args_.ids.data[b * needs_.length + piece.begin + first + r + 1];
        above[r] =
            static_cast<double>(*std::max_element(row, row + v)) - static_cast<double>(row[next]);
      }
      state_.kernels->softmax(
          {.outer = count, .n = v, .inner = 1, .x = logits_, .out = logits_, .temperature = 1.0F});
      for (Index r = 0; r < count; ++r) {
        const float most = *std::max_element(logits_ + r * v, logits_ + (r + 1) * v);
        *args_.surprisal.at(b, piece.begin + first + r) =
            static_cast<float>(above[r] - natural_log(static_cast<double>(most)));
      }
    }
  }
}

/// The row of the stream that is the last one of batch row b.
Index ModelPass::last_row(const ModelPiece& piece, const Rows& rows, Index b) const noexcept {
  if (rows.per_batch < piece.tokens()) {
    return b;
  }
  const Index read = args_.key_lengths.absent() ? piece.tokens() : *args_.key_lengths.at(b);
  return b * piece.tokens() + std::max<Index>(read, 1) - 1;
}

void ModelPass::finish(const ModelPiece& piece, const Rows& rows) noexcept {
  const Index d = c_.d_model;
  if (rows.per_batch == 0) {
    return;
  }
  const float* y = last_norm(rows.count(needs_.batch));
  for (Index b = 0; b < needs_.batch; ++b) {
    const float* all = y + b * piece.tokens() * d;
    const float* last = y + last_row(piece, rows, b) * d;
    if (!args_.hidden.absent() && !needs_.last_hidden) {
      std::memcpy(args_.hidden.at(b, piece.begin), all, bytes_of(piece.tokens() * d));
    } else if (!args_.hidden.absent() && is_last(piece)) {
      std::memcpy(args_.hidden.at(b), last, bytes_of(d));
    }
    if (!args_.logits.absent() && !needs_.last_logits) {
      write_logits(all, piece.tokens(), args_.logits.at(b, piece.begin));
    } else if (!args_.logits.absent() && is_last(piece)) {
      write_logits(last, 1, args_.logits.at(b));
    }
  }
  if (!args_.surprisal.absent()) {
    write_surprisal(piece, y);
  }
}

Status ModelPass::run(const ModelPiece& piece) noexcept {
  embed(piece);
  Rows rows{piece.tokens(), 0};
  for (Index n = 0; n < c_.num_layers; ++n) {
    rows = rows_after(n, piece);
    QKV_RETURN_IF_ERROR(layer(n, piece, rows));
    read(n, piece);
  }
  finish(piece, rows);
  return {};
}

}  // namespace qkv
