// The losses of language models, and models that translate, in double precision, from their formulas: one loop after another, and no operator
// of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "language_model_oracle.hpp"
#include "qkv/train/seq2seq.hpp"

namespace qkv::test::oracle {

/// Tokens of one batch, [rows of length T], with targets, and how many tokens of each row are read.
struct ModelBatch {
  Index tokens;
  std::vector<std::int32_t> ids, targets;
  std::vector<std::int32_t> lengths;
  std::vector<std::int32_t> types = {};  ///< of each token; empty: 0
};

/// Mean cross-entropy of the logits that `run` gives for each row, over targets that are not -1.
template <class Run>
double mean_loss(const ModelBatch& batch, const Run& run) {
  double sum = 0.0;
  double counted = 0.0;
  for (std::size_t b = 0; b < batch.lengths.size(); ++b) {
    const std::size_t first = b * static_cast<std::size_t>(batch.tokens);
    const auto from = batch.ids.begin() + static_cast<Index>(first);
    const Rows logits = run(b, std::vector<std::int32_t>(from, from + batch.tokens));
    for (std::size_t t = 0; t < logits.size(); ++t) {
      const std::int32_t target = batch.targets[first + t];
      if (target < 0) {
        continue;
      }
      sum += negative_log_softmax(logits[t])[static_cast<std::size_t>(target)];
      counted += 1.0;
    }
  }
  return sum / counted;
}

/// Of a language model.
inline double loss(const Model& model, const ModelBatch& batch) {
  return mean_loss(batch, [&](std::size_t b, const std::vector<std::int32_t>& ids) {
    Pass pass;
    pass.length = batch.lengths[b];
    if (!batch.types.empty()) {
      const auto from = batch.types.begin() + static_cast<Index>(b) * batch.tokens;
      pass.types.assign(from, from + batch.tokens);
    }
    return model.trace(ids, pass).logits;
  });
}

/// A model that translates, from its formulas.
class Translator {
 public:
  Translator(const train::Seq2SeqConfig& config, std::map<std::string, std::vector<double>> all)
      : arrays(std::move(all)), c_(config) {}

  /// Sources of all batch rows, [S] each, and how many tokens of each are in use.
  struct Sources {
    Index tokens;
    std::vector<std::int32_t> ids, lengths;
  };

  [[nodiscard]] double loss(const Sources& sources, const ModelBatch& batch) const {
    const Model model(blocks(true), arrays);
    return mean_loss(batch, [&](std::size_t b, const std::vector<std::int32_t>& ids) {
      const auto first = sources.ids.begin() + static_cast<Index>(b) * sources.tokens;
      const std::vector<std::int32_t> source(first, first + sources.tokens);
      return run(model, source, sources.lengths[b], ids);
    });
  }

  /// Logits of one row.
  [[nodiscard]] Rows run(const Model& model, const std::vector<std::int32_t>& source, Index length,
                         const std::vector<std::int32_t>& ids) const {
    const bool blocks_on = c_.kind == train::Seq2SeqKind::kTransformer;
    return model.map("head", "",
                     blocks_on ? transformer(model, source, length, ids)
                               : recurrent(model, source, length, ids));
  }

  std::map<std::string, std::vector<double>> arrays;

 private:
  [[nodiscard]] LanguageModelConfig blocks(bool causal) const {
    LanguageModelConfig c;
    c.d_model = c_.d_model;
    c.num_heads = c.num_kv_heads = c_.num_heads;
    c.d_k = c_.d_model / c_.num_heads;
    c.d_feed_forward = c_.d_feed_forward;
    c.causal = causal;
    c.positions = ModelPositions::kSinusoidal;
    return c;
  }

  [[nodiscard]] Rows embedded(const Model& model, const std::vector<std::int32_t>& ids,
                              bool positions) const {
    Rows x;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      x.push_back(
          Model::row_of(arrays.at("embedding"), static_cast<std::size_t>(ids[t]), model.width()));
      for (std::size_t d = 0; positions && d < model.width(); ++d) {
        x[t][d] += model.position(t, d);
      }
    }
    return x;
  }

  [[nodiscard]] Rows transformer(const Model& decoder, const std::vector<std::int32_t>& source,
                                 Index length, const std::vector<std::int32_t>& ids) const {
    const Model encoder(blocks(false), arrays);
    Rows h = embedded(encoder, source, true);
    for (Index n = 0; n < c_.num_layers; ++n) {
      h = encoder.layer("encoder." + std::to_string(n) + ".", h, {.length = length});
    }
    h = encoder.norm("encoderNorm.gamma", "encoderNorm.beta", h);
    Rows x = embedded(decoder, ids, true);
    for (Index n = 0; n < c_.num_layers; ++n) {
      const std::string at = "decoder." + std::to_string(n) + ".";
      const auto normal = [&](const char* name) {
        return decoder.norm(at + name + ".gamma", at + name + ".beta", x);
      };
      const Rows own = normal("norm1");
      x = Model::sum(x, decoder.attention(at + "attention.", own, own, {.length = c_.max_length}));
      x = Model::sum(x,
                     encoder.attention(at + "cross.", normal("normCross"), h, {.length = length}));
      if (c_.d_feed_forward > 0) {
        x = Model::sum(x, decoder.feed_forward(at + "feedForward.", normal("norm2")));
      }
    }
    return decoder.norm("decoderNorm.gamma", "decoderNorm.beta", x);
  }

  /// All states of a unit.
  [[nodiscard]] Rows unit(const Model& model, const std::string& at, const Rows& x,
                          std::vector<double> h) const {
    const auto logistic = [](double z) { return 1.0 / (1.0 + std::exp(-z)); };
    const Rows of_x = model.map(at + "wx", at + "bx", x);
    const std::size_t d = h.size();
    Rows states;
    for (const std::vector<double>& row : of_x) {
      const std::vector<double> of_h = model.map(at + "wh", at + "bh", {h})[0];
      for (std::size_t i = 0; i < d; ++i) {
        const double r = logistic(row[i] + of_h[i]);
        const double z = logistic(row[d + i] + of_h[d + i]);
        h[i] = (1 - z) * std::tanh(row[2 * d + i] + r * of_h[2 * d + i]) + z * h[i];
      }
      states.push_back(h);
    }
    return states;
  }

  [[nodiscard]] Rows recurrent(const Model& model, const std::vector<std::int32_t>& source,
                               Index length, const std::vector<std::int32_t>& ids) const {
    Rows h = embedded(model, source, false);
    Rows s = embedded(model, ids, false);
    const std::vector<double> zeros(model.width());
    for (Index n = 0; n < c_.num_layers; ++n) {
      h = unit(model, "encoder." + std::to_string(n) + ".gru.", h, zeros);
      s = unit(model, "decoder." + std::to_string(n) + ".gru.", s,
               length == 0 ? zeros : h[static_cast<std::size_t>(length) - 1]);
    }
    if (c_.kind == train::Seq2SeqKind::kGru) {
      return s;
    }
    const Rows q = model.map("attention.wq", "", s);
    const Rows k = model.map("attention.wk", "", h);
    Rows context(s.size(), zeros);
    for (std::size_t i = 0; i < s.size(); ++i) {
      double total = 0.0;
      for (std::size_t j = 0; j < static_cast<std::size_t>(length); ++j) {
        const double w = std::exp(score(q[i], k[j]));
        total += w;
        for (std::size_t d = 0; d < zeros.size(); ++d) {
          context[i][d] += w * h[j][d];
        }
      }
      for (double& x : context[i]) {
        x = total > 0 ? x / total : 0.0;
      }
    }
    return Model::sum(model.map("attention.ws", "attention.b", s),
                      model.map("attention.wc", "", context));
  }

  [[nodiscard]] double score(const std::vector<double>& q, const std::vector<double>& k) const {
    double sum = 0.0;
    for (std::size_t d = 0; d < q.size(); ++d) {
      sum += c_.score == train::Seq2SeqScore::kDot
                 ? q[d] * k[d] / std::sqrt(static_cast<double>(q.size()))
                 : arrays.at("attention.v")[d] * std::tanh(q[d] + k[d]);
    }
    return sum;
  }

  train::Seq2SeqConfig c_;
};

}  // namespace qkv::test::oracle
