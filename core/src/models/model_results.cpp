// What a pass writes of its stream: logits, hidden states, surprisal.
#include <algorithm>
#include <cstring>

#include "base/portable_math.hpp"
#include "base/share.hpp"
#include "models/model_pass.hpp"
#include "rows/over_rows.hpp"
#include "rows/softcap.hpp"

namespace qkv {

/// What the head reads: rows of the stream after the last norm, or in s_ what the head makes of them first.
const float* ModelPass::transform(const float* x, Index rows) noexcept {
  if (c_.head_transform == HeadTransform::kNone) {
    return x;
  }
  const PackedLinear& map = state_.head_transform;
  apply_map(map, inputs({&map}, {x, rows, c_.d_model}, stream_q_), s_);
  const Index elements = rows * c_.d_model;
  if (c_.head_transform == HeadTransform::kTanh) {
    share(pool_, elements, kShareElements,
          [&](Index begin, Index end) noexcept { cap_numbers(s_ + begin, end - begin, 1.0); });
  } else {
    activate_rows(*state_.kernels, pool_, head_activation(c_.head_transform), s_, elements);
  }
  if (c_.head_norm) {
    normalize(state_.head_norm, s_, s_, rows);
  }
  return s_;
}

void ModelPass::write_logits(const float* x, Index rows, float* to) noexcept {
  const PackedLinear& map = state_.last_map();
  const float* const read = transform(x, rows);
  apply_map(map, inputs({&map}, {read, rows, c_.d_model}, stream_q_), to);
  if (c_.logit_softcap > 0.0F) {
    share(pool_, rows * head_outputs(c_), kShareElements, [&](Index begin, Index end) noexcept {
      cap_numbers(to + begin, end - begin, static_cast<double>(c_.logit_softcap));
    });
  }
}

/// The stream as the head reads it: after the last norm, where there is one.
const float* ModelPass::last_norm(Index rows) noexcept {
  if (c_.norm == NormPlacement::kPost) {
    return x_;
  }
  normalize(state_.norm, x_, a_, rows);
  return a_;
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

/// The logits of a row of the batch each: of its first or last token, or of the mean of all.
void ModelPass::write_pooled_logits(const ModelPiece& piece, const Rows& rows,
                                    const float* y) noexcept {
  const Index d = c_.d_model;
  for (Index b = 0; b < needs_.batch; ++b) {
    const Index first = rows.per_batch < piece.tokens() ? b : b * piece.tokens();
    const Index last = last_row(piece, rows, b);
    float* const to = pooled_ + b * d;
    if (c_.head_pooling != HeadPooling::kMean) {
      std::memcpy(to, y + (c_.head_pooling == HeadPooling::kFirst ? first : last) * d, bytes_of(d));
      continue;
    }
    const auto count = static_cast<double>(last - first + 1);
    for (Index i = 0; i < d; ++i) {
      double sum = 0.0;
      for (Index r = first; r <= last; ++r) {
        sum += static_cast<double>(y[r * d + i]);
      }
      to[i] = static_cast<float>(sum / count);
    }
  }
  write_logits(pooled_, needs_.batch, args_.logits.data);
}

/// ForwardArgs::logits of this piece. Where the rows of the batch lie side by side in y and in the results, they are one product,
/// which reads the head once for all of them.
void ModelPass::write_result_logits(const ModelPiece& piece, const Rows& rows,
                                    const float* y) noexcept {
  const bool last = needs_.last_logits;
  if (last && !is_last(piece)) {
    return;
  }
  if (c_.head_pooling != HeadPooling::kNone) {
    write_pooled_logits(piece, rows, y);
    return;
  }
  const Index count = last ? 1 : piece.tokens();
  if (last ? rows.per_batch == 1 : count == needs_.length) {
    write_logits(y, needs_.batch * count, args_.logits.data);
    return;
  }
  for (Index b = 0; b < needs_.batch; ++b) {
    const Index from = last ? last_row(piece, rows, b) : b * piece.tokens();
    write_logits(y + from * c_.d_model, count,
                 last ? args_.logits.at(b) : args_.logits.at(b, piece.begin));
  }
}

void ModelPass::finish(const ModelPiece& piece, const Rows& rows) noexcept {
  const Index d = c_.d_model;
  if (rows.per_batch == 0) {
    return;
  }
  const float* y = last_norm(rows.count(needs_.batch));
  // Nothing changes it: it is only read.
  visit_stream(ModelSite::kFinal, const_cast<float*>(y), rows);
  for (Index b = 0; b < needs_.batch; ++b) {
    const float* all = y + b * piece.tokens() * d;
    const float* last = y + last_row(piece, rows, b) * d;
    if (!args_.hidden.absent() && !needs_.last_hidden) {
      std::memcpy(args_.hidden.at(b, piece.begin), all, bytes_of(piece.tokens() * d));
    } else if (!args_.hidden.absent() && is_last(piece)) {
      std::memcpy(args_.hidden.at(b), last, bytes_of(d));
    }
  }
  if (!args_.logits.absent()) {
    write_result_logits(piece, rows, y);
  }
  if (!args_.surprisal.absent()) {
    write_surprisal(piece, y);
  }
}

}  // namespace qkv
