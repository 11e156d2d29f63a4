// A language model in double precision, from its formulas: one loop after another, and no operator of the library.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "qkv/language_model_config.hpp"

namespace qkv::test::oracle {

using Rows = std::vector<std::vector<double>>;

/// Tokens of one batch, [rows of length T], with targets, and how many tokens of each row are read.
struct ModelBatch {
  Index tokens;
  std::vector<std::int32_t> ids, targets;
  std::vector<std::int32_t> lengths;
};

/// The arrays by their names, matrices in row-major order.
class Model {
 public:
  Model(const LanguageModelConfig& config, std::map<std::string, std::vector<double>> arrays)
      : arrays(std::move(arrays)), c_(config) {}

  /// Mean cross-entropy over targets that are not -1.
  [[nodiscard]] double loss(const ModelBatch& batch) const {
    double sum = 0.0;
    double counted = 0.0;
    for (std::size_t b = 0; b < batch.lengths.size(); ++b) {
      const std::size_t first = b * static_cast<std::size_t>(batch.tokens);
      const std::vector<std::int32_t> ids(
          batch.ids.begin() + static_cast<Index>(first),
          batch.ids.begin() + static_cast<Index>(first) + batch.tokens);
      const Rows logits = run(ids, batch.lengths[b]);
      for (std::size_t t = 0; t < logits.size(); ++t) {
        const std::int32_t target = batch.targets[first + t];
        if (target < 0) {
          continue;
        }
        double most = logits[t][0];
        for (const double x : logits[t]) {
          most = std::max(most, x);
        }
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

 private:
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
      const Rows y = norm1(sum(x, attention(at + "attention.", x, length)));
      return feeds ? norm2(sum(y, feed_forward(at + "feedForward.", y))) : y;
    }
    const Rows y = sum(x, attention(at + "attention.", norm1(x), length));
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

  [[nodiscard]] Rows attention(const std::string& at, const Rows& x, Index length) const {
    Rows q = map(at + "wq", at + "bq", x);
    Rows k = map(at + "wk", at + "bk", x);
    const Rows v = map(at + "wv", at + "bv", x);
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
        for (std::size_t j = 0; j < x.size(); ++j) {
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

  const LanguageModelConfig& c_;
};

}  // namespace qkv::test::oracle
