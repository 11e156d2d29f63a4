// Language models, and models that translate, in double precision, from their formulas: one loop after another, and no operator of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "qkv/language_model_config.hpp"
#include "qkv/train/seq2seq.hpp"

namespace qkv::test::oracle {

using Rows = std::vector<std::vector<double>>;

/// Tokens of one batch, [rows of length T], with targets, and how many tokens of each row are read.
struct ModelBatch {
  Index tokens;
  std::vector<std::int32_t> ids, targets;
  std::vector<std::int32_t> lengths;
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
      const double most = *std::max_element(logits[t].begin(), logits[t].end());
      double total = 0.0;
      for (const double x : logits[t]) {
        total += std::exp(x - most);
      }
      sum += std::log(total) + most - logits[t][static_cast<std::size_t>(target)];
      counted += 1.0;
    }
  }
  return sum / counted;
}

/// The arrays by their names, matrices in row-major order.
class Model {
 public:
  Model(const LanguageModelConfig& config, std::map<std::string, std::vector<double>> all)
      : arrays(std::move(all)), c_(config) {}

  /// Mean cross-entropy over targets that are not -1.
  [[nodiscard]] double loss(const ModelBatch& batch) const {
    return mean_loss(batch, [&](std::size_t b, const std::vector<std::int32_t>& ids) {
      return run(ids, batch.lengths[b]);
    });
  }

  /// Logits of one row of tokens.
  [[nodiscard]] Rows run(const std::vector<std::int32_t>& ids, Index length) const {
    Rows x;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      x.push_back(row_of(get("embedding"), static_cast<std::size_t>(ids[t]), width()));
      for (std::size_t d = 0; d < width(); ++d) {
        x[t][d] = x[t][d] * static_cast<double>(c_.embedding_scale) + position(t, d);
      }
    }
    for (Index n = 0; n < c_.num_layers; ++n) {
      x = layer("layers." + std::to_string(n) + ".", x, length);
    }
    x = c_.norm == NormPlacement::kPre ? norm("norm.gamma", "norm.beta", x) : x;
    if (!c_.tied_embeddings) {
      return map("head", "", x);
    }
    Rows logits(x.size(), std::vector<double>(static_cast<std::size_t>(c_.vocabulary)));
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t v = 0; v < logits[t].size(); ++v) {
        const std::vector<double> row = row_of(get("embedding"), v, width());
        for (std::size_t d = 0; d < width(); ++d) {
          logits[t][v] += x[t][d] * row[d];
        }
      }
    }
    return logits;
  }

  std::map<std::string, std::vector<double>> arrays;

  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(c_.d_model); }
  [[nodiscard]] const std::vector<double>& get(const std::string& name) const {
    return arrays.at(name);
  }
  static std::vector<double> row_of(const std::vector<double>& matrix, std::size_t row,
                                    std::size_t width) {
    const auto first = matrix.begin() + static_cast<Index>(row * width);
    return {first, first + static_cast<Index>(width)};
  }

  [[nodiscard]] double position(std::size_t t, std::size_t d) const {
    if (c_.positions == ModelPositions::kLearned) {
      return get("positions")[t * width() + d];
    }
    if (c_.positions != ModelPositions::kSinusoidal) {
      return 0.0;
    }
    const auto pair = static_cast<double>(d / 2 * 2);
    const double angle =
        static_cast<double>(t) * std::pow(10000.0, -pair / static_cast<double>(c_.d_model));
    return d % 2 == 0 ? std::sin(angle) : std::cos(angle);
  }

  [[nodiscard]] Rows norm(const std::string& gamma, const std::string& beta, Rows x) const {
    const std::vector<double>& g = get(gamma);
    const bool centre = c_.norm_type == NormType::kLayer;
    const auto n = static_cast<double>(g.size());
    for (std::vector<double>& row : x) {  // pieces of the width of gamma: whole rows, or heads
      for (std::size_t at = 0; at < row.size(); at += g.size()) {
        double mean = 0.0;
        double squares = 0.0;
        for (std::size_t i = 0; centre && i < g.size(); ++i) {
          mean += row[at + i] / n;
        }
        for (std::size_t i = 0; i < g.size(); ++i) {
          squares += (row[at + i] - mean) * (row[at + i] - mean) / n;
        }
        for (std::size_t i = 0; i < g.size(); ++i) {
          row[at + i] =
              (row[at + i] - mean) / std::sqrt(squares + static_cast<double>(c_.epsilon)) * g[i] +
              (arrays.contains(beta) ? get(beta)[i] : 0.0);
        }
      }
    }
    return x;
  }

  [[nodiscard]] Rows map(const std::string& w, const std::string& b, const Rows& x) const {
    const std::vector<double>& matrix = get(w);
    const std::size_t in = x[0].size();
    const std::size_t out = matrix.size() / in;
    Rows y(x.size(), std::vector<double>(out));
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t j = 0; j < out; ++j) {
        y[t][j] = arrays.contains(b) ? get(b)[j] : 0.0;
        for (std::size_t i = 0; i < in; ++i) {
          y[t][j] += x[t][i] * matrix[i * out + j];
        }
      }
    }
    return y;
  }

  static Rows sum(Rows x, const Rows& y) {
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t d = 0; d < x[t].size(); ++d) {
        x[t][d] += y[t][d];
      }
    }
    return x;
  }

  [[nodiscard]] Rows layer(const std::string& at, const Rows& x, Index length) const {
    const bool feeds = c_.d_feed_forward > 0;
    const auto norm1 = [&](const Rows& r) {
      return norm(at + "norm1.gamma", at + "norm1.beta", r);
    };
    const auto norm2 = [&](const Rows& r) {
      return norm(at + "norm2.gamma", at + "norm2.beta", r);
    };
    if (c_.norm == NormPlacement::kPost) {
      const Rows y = norm1(sum(x, attention(at + "attention.", x, x, length)));
      return feeds ? norm2(sum(y, feed_forward(at + "feedForward.", y))) : y;
    }
    const Rows normal = norm1(x);
    const Rows y = sum(x, attention(at + "attention.", normal, normal, length));
    if (!feeds) {
      return y;
    }
    return sum(y, feed_forward(at + "feedForward.", norm2(c_.parallel_residual ? x : y)));
  }

  static double act(ModelActivation f, double x) {
    switch (f) {
      case ModelActivation::kRelu:
        return std::max(x, 0.0);
      case ModelActivation::kGelu:
      case ModelActivation::kGeglu:
        return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
      case ModelActivation::kGeluTanh:
        return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
      default:
        return x / (1 + std::exp(-x));
    }
  }

  [[nodiscard]] Rows feed_forward(const std::string& at, const Rows& x) const {
    Rows h = map(at + "w1", at + "b1", x);
    const bool gated = c_.activation >= ModelActivation::kSwiglu;
    const Rows g = gated ? map(at + "wGate", at + "bGate", x) : h;
    for (std::size_t t = 0; t < h.size(); ++t) {
      for (std::size_t j = 0; j < h[t].size(); ++j) {
        h[t][j] = act(c_.activation, g[t][j]) * (gated ? h[t][j] : 1.0);
      }
    }
    return map(at + "w2", at + "b2", h);
  }

  /// Each head of each row turned by the row's position.
  void turn(Rows& x) const {
    if (c_.positions != ModelPositions::kRotary) {
      return;
    }
    const auto d = static_cast<std::size_t>(c_.d_k);
    const std::size_t r =
        c_.rotary.rotary_dim == 0 ? d : static_cast<std::size_t>(c_.rotary.rotary_dim);
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t head = 0; head < x[t].size(); head += d) {
        for (std::size_t i = 0; i < r / 2; ++i) {
          const double angle =
              static_cast<double>(t) *
              std::pow(c_.rotary.base, -2.0 * static_cast<double>(i) / static_cast<double>(r));
          double& a = x[t][head + (c_.rotary.interleaved ? 2 * i : i)];
          double& b = x[t][head + (c_.rotary.interleaved ? 2 * i + 1 : i + r / 2)];
          const double before = a;
          a = std::cos(angle) * a - std::sin(angle) * b;
          b = std::sin(angle) * before + std::cos(angle) * b;
        }
      }
    }
  }

  [[nodiscard]] bool may_read(Index i, Index j, Index length) const {
    return j < length && (!c_.causal || j <= i) && (c_.window < 0 || j >= i - c_.window);
  }

  [[nodiscard]] double score(const std::vector<double>& q, const std::vector<double>& k,
                             std::size_t head, double distance) const {
    const auto d = static_cast<std::size_t>(c_.d_k);
    const std::size_t kv = head / static_cast<std::size_t>(c_.num_heads / c_.num_kv_heads);
    double s = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      s += q[head * d + i] * k[kv * d + i];
    }
    s /= std::sqrt(static_cast<double>(c_.d_k));
    const auto cap = static_cast<double>(c_.attention_softcap);
    s = cap > 0 ? cap * std::tanh(s / cap) : s;
    const double slope =
        std::pow(2.0, -8.0 * static_cast<double>(head + 1) / static_cast<double>(c_.num_heads));
    return c_.positions == ModelPositions::kAlibi ? s - slope * distance : s;
  }

  [[nodiscard]] Rows attention(const std::string& at, const Rows& x, const Rows& context,
                               Index length) const {
    Rows q = map(at + "wq", at + "bq", x);
    Rows k = map(at + "wk", at + "bk", context);
    const Rows v = map(at + "wv", at + "bv", context);
    if (c_.qk_norm) {
      q = norm(at + "qGamma", at + "qBeta", q);
      k = norm(at + "kGamma", at + "kBeta", k);
    }
    turn(q);
    turn(k);
    const auto d = static_cast<std::size_t>(c_.d_k);
    Rows out(x.size(), std::vector<double>(q[0].size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t head = 0; head < static_cast<std::size_t>(c_.num_heads); ++head) {
        const std::size_t kv = head / static_cast<std::size_t>(c_.num_heads / c_.num_kv_heads);
        double total = 0.0;
        std::vector<double> sums(d);
        for (std::size_t j = 0; j < k.size(); ++j) {
          if (!may_read(static_cast<Index>(i), static_cast<Index>(j), length)) {
            continue;
          }
          const double distance = std::abs(static_cast<double>(i) - static_cast<double>(j));
          const double w = std::exp(score(q[i], k[j], head, distance));
          total += w;
          for (std::size_t e = 0; e < d; ++e) {
            sums[e] += w * v[j][kv * d + e];
          }
        }
        for (std::size_t e = 0; total > 0 && e < d; ++e) {
          out[i][head * d + e] = sums[e] / total;
        }
      }
    }
    return map(at + "wo", at + "bo", out);
  }

 private:
  LanguageModelConfig c_;
};

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
      h = encoder.layer("encoder." + std::to_string(n) + ".", h, length);
    }
    h = encoder.norm("encoderNorm.gamma", "encoderNorm.beta", h);
    Rows x = embedded(decoder, ids, true);
    for (Index n = 0; n < c_.num_layers; ++n) {
      const std::string at = "decoder." + std::to_string(n) + ".";
      const auto normal = [&](const char* name) {
        return decoder.norm(at + name + ".gamma", at + name + ".beta", x);
      };
      const Rows own = normal("norm1");
      x = Model::sum(x, decoder.attention(at + "attention.", own, own, c_.max_length));
      x = Model::sum(x, encoder.attention(at + "cross.", normal("normCross"), h, length));
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
