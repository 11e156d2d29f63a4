// Language models in double precision, from their formulas: one loop after another, and no operator of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "position_oracle.hpp"
#include "qkv/language_model_config.hpp"
#include "qkv/model_sites.hpp"

namespace qkv::test::oracle {

using Rows = std::vector<std::vector<double>>;

/// -ln of each probability of softmax(row).
inline std::vector<double> negative_log_softmax(std::vector<double> row) {
  const double most = *std::max_element(row.begin(), row.end());
  double total = 0.0;
  for (const double x : row) {
    total += std::exp(x - most);
  }
  for (double& x : row) {
    x = std::log(total) + most - x;
  }
  return row;
}

/// What one layer of one row of tokens computed.
struct LayerTrace {
  std::vector<Rows> weights;  ///< of each head, [T, T]
  Rows entropy;               ///< [num_heads, T], in nats
  Rows residual;              ///< [T, d_model]: the stream after the layer
  Rows q, k, v;               ///< [T, heads d_k]: what the scores and sums read
};

/// What a pass over one row of tokens computed.
struct Trace {
  std::vector<LayerTrace> layers;
  Rows hidden;  ///< [T, d_model]: after the last norm
  Rows logits;  ///< [T, V]; empty without a head
};

/// What a pass is asked besides its tokens.
struct Pass {
  Index length = -1;                          ///< tokens that are read; -1: all
  std::vector<std::int32_t> types;            ///< of each token; empty: 0
  std::set<std::pair<Index, Index>> ablated;  ///< (layer, head)
  /// Called where something comes into being, which it may change: rows of tokens of a site, of one head where the site has heads
  /// and otherwise with -1. Scores and weights of excluded keys are what they were whatever it does.
  std::function<void(ModelSite site, Index layer, Index head, Rows& rows)> visit;
  const Rows* begin = nullptr;  ///< the stream before layer `first`, in place of the embeddings
  Index first = 0;
};

/// The arrays by their names, matrices in row-major order.
class Model {
 public:
  /// What rounding does to numbers on their way, for bounds: rows that go into a linear map, its results with the sum of sizes of
  /// each, and keys or values that are stored. Absent: nothing.
  struct Noise {
    std::function<void(std::vector<double>& row)> into_map;
    std::function<double(double value, double size, std::size_t inputs)> out_of_map;
    std::function<double(double)> stored;
  };

  Model(const LanguageModelConfig& config, std::map<std::string, std::vector<double>> all)
      : arrays(std::move(all)), c_(config) {
    c_.num_kv_heads = c_.num_kv_heads == 0 ? c_.num_heads : c_.num_kv_heads;
    c_.d_k = c_.d_k == 0 ? c_.d_model / c_.num_heads : c_.d_k;
    for (Index n = 0; n < c_.num_layers; ++n) {
      windows_.push_back(c_.windows.absent() ? c_.window : Index{*c_.windows.at(n)});
      rotations_.push_back(c_.rotations.absent() ? 1 : Index{*c_.rotations.at(n)});
    }
    c_.windows = {};
    c_.rotations = {};
    if (c_.positions == ModelPositions::kAlibi) {
      alibi_ = alibi_slopes(c_.num_heads);
    }
  }

  /// Logits of one row of tokens.
  [[nodiscard]] Rows run(const std::vector<std::int32_t>& ids, Index length) const {
    Pass pass;
    pass.length = length;
    return trace(ids, pass).logits;
  }

  [[nodiscard]] Trace trace(const std::vector<std::int32_t>& ids, const Pass& pass) const {
    Trace made;
    const Rows read = c_.encoder_layers > 0 ? encoder().trace(source, {}).hidden : Rows();
    Rows x = pass.begin ? *pass.begin : embedded(ids, pass);
    if (pass.visit && pass.first == 0) {
      pass.visit(ModelSite::kEmbed, 0, -1, x);
    }
    for (Index n = pass.first; n < c_.num_layers; ++n) {
      made.layers.emplace_back();
      const Reach reach{pass.length < 0 ? static_cast<Index>(x.size()) : pass.length, n, &pass,
                        &made.layers.back(), &read};
      x = layer("layers." + std::to_string(n) + ".", x, reach);
      visit(reach, ModelSite::kResidual, x);
      made.layers.back().residual = x;
      if (pass.visit && c_.head) {
        Rows lens = logits(x);
        visit(reach, ModelSite::kLogits, lens);
      }
    }
    made.hidden = last_norm(x);
    if (pass.visit) {
      pass.visit(ModelSite::kFinal, 0, -1, made.hidden);
    }
    if (c_.head && c_.head_pooling != HeadPooling::kNone) {
      made.logits = head({pooled(made.hidden, pass.length)});
    } else {
      made.logits = logits(x);
    }
    return made;
  }

  /// The stream after the last norm, if there is one.
  [[nodiscard]] Rows last_norm(const Rows& x) const {
    return c_.norm == NormPlacement::kPost ? x : norm("norm.gamma", "norm.beta", x);
  }

  /// Of a stream as if the stack ended there.
  [[nodiscard]] Rows logits(const Rows& stream) const {
    if (!c_.head) {
      return {};
    }
    return head(last_norm(stream));
  }

  /// The logits of rows after the last norm.
  [[nodiscard]] Rows head(Rows x) const {
    if (c_.head_transform != HeadTransform::kNone) {
      x = map("headTransform.w", "headTransform.b", x);
      for (std::vector<double>& row : x) {
        for (double& each : row) {
          each = transformed(c_.head_transform, each);
        }
      }
      x = c_.head_norm ? norm("headTransform.norm.gamma", "headTransform.norm.beta", x) : x;
    }
    Rows y =
        c_.tied_embeddings ? product("embedding", "headBias", x, true) : map("head", "headBias", x);
    const auto cap = static_cast<double>(c_.logit_softcap);
    for (std::vector<double>& row : y) {
      for (double& logit : row) {
        logit = cap > 0 ? cap * std::tanh(logit / cap) : logit;
      }
    }
    return y;
  }

  /// The row of the stream that the head of a whole row of tokens reads, of which `length` are read; below 0: all.
  [[nodiscard]] std::vector<double> pooled(const Rows& x, Index length) const {
    const std::size_t tokens = length < 0 ? x.size() : static_cast<std::size_t>(length);
    if (c_.head_pooling != HeadPooling::kMean) {
      return x[c_.head_pooling == HeadPooling::kFirst ? 0 : tokens - 1];
    }
    std::vector<double> mean(x[0].size());
    for (std::size_t t = 0; t < tokens; ++t) {
      for (std::size_t i = 0; i < mean.size(); ++i) {
        mean[i] += x[t][i] / static_cast<double>(tokens);
      }
    }
    return mean;
  }

  /// The encoder as a model of its own.
  [[nodiscard]] Model encoder() const {
    LanguageModelConfig config = c_;
    config.num_layers = c_.encoder_layers;
    config.encoder_layers = 0;
    config.causal = config.head = false;
    const std::string prefix = "encoder.";
    std::map<std::string, std::vector<double>> own = {{"embedding", get("embedding")}};
    for (const auto& [name, values] : arrays) {
      if (name.starts_with(prefix)) {
        own[name.substr(prefix.size())] = values;
      }
    }
    Model made(config, std::move(own));
    made.noise = noise;
    return made;
  }

  std::map<std::string, std::vector<double>> arrays;
  Noise noise;
  std::vector<std::int32_t> source;  ///< what the encoder reads

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
    return c_.positions == ModelPositions::kSinusoidal
               ? sinusoid(static_cast<double>(t), static_cast<Index>(d), c_.d_model, {})
               : 0.0;
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
    return product(w, b, x, false);
  }

  static Rows sum(Rows x, const Rows& y) {
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t d = 0; d < x[t].size(); ++d) {
        x[t][d] += y[t][d];
      }
    }
    return x;
  }

  /// Whether query i of a layer may read key j.
  [[nodiscard]] bool may_read(Index i, Index j, Index layer, Index length) const {
    return may_read(i, j, Reach{.length = length, .layer = layer});
  }

  /// What a block is asked besides its stream.
  struct Reach {
    Index length = 0;              ///< keys that are read
    Index layer = -1;              ///< whose window holds; -1: no window
    const Pass* pass = nullptr;    ///< whose heads are ablated
    LayerTrace* trace = nullptr;   ///< where weights are kept
    const Rows* source = nullptr;  ///< what cross-attention reads, if there is any
    bool crosses = false;          ///< every key is read, wherever it stands
  };
  static void visit(const Reach& reach, ModelSite site, Rows& rows, Index head = -1) {
    if (reach.pass && reach.pass->visit) {
      reach.pass->visit(site, reach.layer, head, rows);
    }
  }
  /// The same of heads that lie side by side.
  void visit_heads(const Reach& reach, ModelSite site, Rows& rows, std::size_t width) const {
    for (std::size_t at = 0; reach.pass && reach.pass->visit && at < rows[0].size(); at += width) {
      Rows own;
      for (const std::vector<double>& row : rows) {
        own.push_back(
            {row.begin() + static_cast<Index>(at), row.begin() + static_cast<Index>(at + width)});
      }
      visit(reach, site, own, static_cast<Index>(at / width));
      for (std::size_t t = 0; t < rows.size(); ++t) {
        std::copy(own[t].begin(), own[t].end(), rows[t].begin() + static_cast<Index>(at));
      }
    }
  }
  /// What rows of one head give, x W_O of its rows of W_O.
  [[nodiscard]] Rows brought(const std::string& at, const Rows& x, Index x_head, Index head) const {
    const auto d = static_cast<std::size_t>(c_.d_k);
    const std::vector<double>& wo = get(at + "wo");
    Rows y(x.size(), std::vector<double>(width()));
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t j = 0; j < width(); ++j) {
        for (std::size_t i = 0; i < d; ++i) {
          y[t][j] += x[t][static_cast<std::size_t>(x_head) * d + i] *
                     wo[(static_cast<std::size_t>(head) * d + i) * width() + j];
        }
      }
    }
    return y;
  }
  void visit_brought(const std::string& at, const Rows& v, const Rows& z,
                     const Reach& reach) const {
    for (Index h = 0; reach.pass && reach.pass->visit && h < c_.num_heads; ++h) {
      Rows gives = brought(at, z, h, h);
      visit(reach, ModelSite::kHeads, gives, h);
      const Rows lengths = brought(at, v, h / (c_.num_heads / c_.num_kv_heads), h);
      Rows weights = reach.trace->weights[static_cast<std::size_t>(h)];
      for (std::vector<double>& row : weights) {
        for (std::size_t j = 0; j < row.size(); ++j) {
          double squares = 0.0;
          for (const double x : lengths[j]) {
            squares += x * x;
          }
          row[j] *= std::sqrt(squares);
        }
      }
      visit(reach, ModelSite::kNormWeights, weights, h);
    }
  }

  /// What attention of x on `context` adds to the stream.
  [[nodiscard]] Rows attention(const std::string& at, const Rows& x, const Rows& context,
                               const Reach& reach) const {
    Rows q = map(at + "wq", at + "bq", x);
    Rows k = map(at + "wk", at + "bk", context);
    Rows v = map(at + "wv", at + "bv", context);
    const auto normalize = [&](bool now) {
      if (c_.qk_norm && now) {
        q = norm(at + "qGamma", at + "qBeta", q);
        k = norm(at + "kGamma", at + "kBeta", k);
      }
    };
    normalize(c_.qk_norm_of != QkNorm::kRotated);
    turn(q, reach.layer);
    turn(k, reach.layer);
    normalize(c_.qk_norm_of == QkNorm::kRotated);
    const auto width_of_head = static_cast<std::size_t>(c_.d_k);
    visit_heads(reach, ModelSite::kQ, q, width_of_head);
    visit_heads(reach, ModelSite::kK, k, width_of_head);
    visit_heads(reach, ModelSite::kV, v, width_of_head);
    store(k);
    store(v);
    if (reach.trace) {
      reach.trace->q = q;
      reach.trace->k = k;
      reach.trace->v = v;
    }
    Rows out(x.size(), std::vector<double>(q[0].size()));
    for (Index head = 0; head < c_.num_heads; ++head) {
      attend(head, q, k, v, reach, out);
    }
    visit_heads(reach, ModelSite::kZ, out, width_of_head);
    visit_brought(at, v, out, reach);
    return map(at + "wo", at + "bo", out);
  }

  [[nodiscard]] Rows feed_forward(const std::string& at, const Rows& x,
                                  const Reach* reach = nullptr) const {
    if (c_.num_experts == 0) {
      return maps(at, x, reach);
    }
    const Rows logits = map(at + "router", "", x);
    std::vector<Rows> made;
    for (Index e = 0; e < c_.num_experts; ++e) {
      made.push_back(maps(at + "experts." + std::to_string(e) + ".", x));
    }
    Rows y(x.size(), std::vector<double>(x[0].size()));
    for (std::size_t t = 0; t < x.size(); ++t) {
      std::vector<std::pair<double, std::size_t>> shares;
      const std::vector<double> surprisal = negative_log_softmax(logits[t]);
      for (std::size_t e = 0; e < surprisal.size(); ++e) {
        shares.emplace_back(-std::exp(-surprisal[e]), e);
      }
      std::sort(shares.begin(), shares.end());
      shares.resize(static_cast<std::size_t>(c_.experts_per_token));
      double scale = c_.normalized_experts ? 0.0 : 1.0;
      for (const auto& [share, e] : shares) {
        scale -= c_.normalized_experts ? share : 0.0;
      }
      for (const auto& [share, e] : shares) {
        for (std::size_t d = 0; d < y[t].size(); ++d) {
          y[t][d] -= share / scale * made[e][t][d];
        }
      }
    }
    return y;
  }

  /// The maps of a feed-forward layer, or of an expert.
  [[nodiscard]] Rows maps(const std::string& at, const Rows& x,
                          const Reach* reach = nullptr) const {
    Rows h = map(at + "w1", at + "b1", x);
    const bool gated =
        c_.activation >= ModelActivation::kSwiglu && c_.activation != ModelActivation::kRelu2;
    const Rows g = gated ? map(at + "wGate", at + "bGate", x) : h;
    for (std::size_t t = 0; t < h.size(); ++t) {
      for (std::size_t j = 0; j < h[t].size(); ++j) {
        h[t][j] = act(c_.activation, g[t][j]) * (gated ? h[t][j] : 1.0);
      }
    }
    if (reach) {
      visit(*reach, ModelSite::kNeurons, h);
    }
    return map(at + "w2", at + "b2", h);
  }

  /// What one block makes of the stream.
  [[nodiscard]] Rows layer(const std::string& at, const Rows& x, const Reach& reach) const {
    const auto normal = [&](const char* name, const Rows& r) {
      return norm(at + name + ".gamma", at + name + ".beta", r);
    };
    const bool after = c_.norm == NormPlacement::kAfter;
    const auto added = [&](ModelSite site, const char* name, Rows r) {
      r = c_.post_norms || after ? normal(name, r) : r;
      visit(reach, site, r);
      return r;
    };
    const auto attends = [&](const Rows& r) {
      return added(ModelSite::kAttention, "postNorm1", attention(at + "attention.", r, r, reach));
    };
    const auto feeds = [&](const Rows& r) {
      return added(ModelSite::kFeedForward, "postNorm2",
                   feed_forward(at + "feedForward.", r, &reach));
    };
    const auto middle = [&](Rows r) {
      visit(reach, ModelSite::kMiddle, r);
      return r;
    };
    const bool two = c_.d_feed_forward > 0;
    if (c_.norm == NormPlacement::kPost) {
      const Rows y = middle(normal("norm1", sum(x, attends(x))));
      return two ? normal("norm2", sum(y, feeds(y))) : y;
    }
    const auto read = [&](const char* name, const Rows& r, bool has) {
      return after || !has ? r : normal(name, r);
    };
    const bool first = c_.first_norm || reach.layer > 0;
    Rows y = middle(sum(x, attends(read("norm1", x, first))));
    if (c_.encoder_layers > 0) {
      const Rows& from = *reach.source;
      const Reach all{.length = static_cast<Index>(from.size()), .crosses = true};
      Rows crossed = attention(at + "cross.", normal("normCross", y), from, all);
      visit(reach, ModelSite::kCross, crossed);
      y = sum(y, crossed);
    }
    const Rows& beside = c_.parallel_residual ? x : y;
    return two ? sum(y, feeds(read("norm2", beside, true))) : y;
  }

 private:
  [[nodiscard]] Rows embedded(const std::vector<std::int32_t>& ids, const Pass& pass) const {
    Rows x;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      x.push_back(row_of(get("embedding"), static_cast<std::size_t>(ids[t]), width()));
      const auto type =
          pass.types.empty() ? std::size_t{0} : static_cast<std::size_t>(pass.types[t]);
      for (std::size_t d = 0; d < width(); ++d) {
        x[t][d] = x[t][d] * static_cast<double>(c_.embedding_scale) + position(t, d) +
                  (c_.token_types > 0 ? get("tokenTypes")[type * width() + d] : 0.0);
      }
    }
    return c_.embedding_norm ? norm("embeddingNorm.gamma", "embeddingNorm.beta", x) : x;
  }

  /// x W + b, or with `rows` x W' for a W that has a row for each result.
  [[nodiscard]] Rows product(const std::string& w, const std::string& b, Rows x, bool rows) const {
    const std::vector<double>& matrix = get(w);
    const std::size_t in = x[0].size();
    const std::size_t out = matrix.size() / in;
    Rows y(x.size(), std::vector<double>(out));
    for (std::size_t t = 0; t < x.size(); ++t) {
      if (noise.into_map) {
        noise.into_map(x[t]);
      }
      for (std::size_t j = 0; j < out; ++j) {
        double value = arrays.contains(b) ? get(b)[j] : 0.0;
        double size = std::abs(value);
        for (std::size_t i = 0; i < in; ++i) {
          const double term = x[t][i] * matrix[rows ? j * in + i : i * out + j];
          value += term;
          size += std::abs(term);
        }
        y[t][j] = noise.out_of_map ? noise.out_of_map(value, size, in) : value;
      }
    }
    return y;
  }

  static double transformed(HeadTransform f, double x) {
    switch (f) {
      case HeadTransform::kNone:
        return x;
      case HeadTransform::kTanh:
        return std::tanh(x);
      case HeadTransform::kRelu:
        return act(ModelActivation::kRelu, x);
      case HeadTransform::kGelu:
        return act(ModelActivation::kGelu, x);
      case HeadTransform::kGeluTanh:
        return act(ModelActivation::kGeluTanh, x);
      case HeadTransform::kSilu:
        return act(ModelActivation::kSilu, x);
    }
    return x;
  }

  static double act(ModelActivation f, double x) {
    switch (f) {
      case ModelActivation::kRelu:
        return std::max(x, 0.0);
      case ModelActivation::kRelu2:
        return std::max(x, 0.0) * std::max(x, 0.0);
      case ModelActivation::kGelu:
      case ModelActivation::kGeglu:
        return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
      case ModelActivation::kGeluTanh:
      case ModelActivation::kGegluTanh:
        return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
      default:
        return x / (1 + std::exp(-x));
    }
  }

  void store(Rows& x) const {
    for (std::vector<double>& row : x) {
      for (double& value : row) {
        value = noise.stored ? noise.stored(value) : value;
      }
    }
  }

  /// Each head of each row turned by the row's position.
  void turn(Rows& x, Index layer) const {
    const Index which = layer < 0 ? 1 : rotations_[static_cast<std::size_t>(layer)];
    if (c_.positions != ModelPositions::kRotary || which == 0) {
      return;
    }
    const RotaryOptions& by = which == 1 ? c_.rotary : c_.second_rotary;
    const auto d = static_cast<std::size_t>(c_.d_k);
    const Index r = by.rotary_dim == 0 ? c_.d_k : by.rotary_dim;
    const auto half = static_cast<std::size_t>(r / 2);
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t i = 0; i < half; ++i) {
        const Turn angle = rotary_turn(by, r, 0, static_cast<Index>(t), static_cast<Index>(i));
        for (std::size_t head = 0; head < x[t].size(); head += d) {
          double& a = x[t][head + (by.interleaved ? 2 * i : i)];
          double& b = x[t][head + (by.interleaved ? 2 * i + 1 : i + half)];
          const double before = a;
          a = angle.cosine * a - angle.sine * b;
          b = angle.sine * before + angle.cosine * b;
        }
      }
    }
  }

  [[nodiscard]] bool may_read(Index i, Index j, const Reach& reach) const {
    const Index window = reach.layer < 0 ? -1 : windows_[static_cast<std::size_t>(reach.layer)];
    return j < reach.length && (reach.crosses || !c_.causal || j <= i) &&
           (window < 0 || j >= i - window) &&
           (window < 0 || !c_.symmetric_window || j <= i + window);
  }

  [[nodiscard]] double score(const std::vector<double>& q, const std::vector<double>& k, Index head,
                             double distance, bool crosses) const {
    const auto d = static_cast<std::size_t>(c_.d_k);
    const auto of_q = static_cast<std::size_t>(head) * d;
    const auto of_k = static_cast<std::size_t>(head / (c_.num_heads / c_.num_kv_heads)) * d;
    double s = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      s += q[of_q + i] * k[of_k + i];
    }
    s *= c_.attention_scale ? static_cast<double>(*c_.attention_scale)
                            : 1 / std::sqrt(static_cast<double>(c_.d_k));
    const auto cap = static_cast<double>(c_.attention_softcap);
    s = cap > 0 ? cap * std::tanh(s / cap) : s;
    if (c_.relative_buckets > 0 && !crosses) {
      const Index bucket = bucket_of(static_cast<Index>(distance));
      s += get("relativeBias")[static_cast<std::size_t>(bucket * c_.num_heads + head)];
    }
    return c_.positions == ModelPositions::kAlibi
               ? s - alibi_[static_cast<std::size_t>(head)] * std::abs(distance)
               : s;
  }

  /// The bucket of a key `distance` after its query, by the formula of t5_bucket() in floating point.
  [[nodiscard]] Index bucket_of(Index distance) const {
    const Index all = c_.causal ? c_.relative_buckets : c_.relative_buckets / 2;
    const Index n = c_.causal ? std::max<Index>(-distance, 0) : std::abs(distance);
    const Index side = !c_.causal && distance > 0 ? all : 0;
    const Index exact = all / 2;
    if (n < exact) {
      return side + n;
    }
    const double part =
        std::log(static_cast<double>(n) / static_cast<double>(exact)) /
        std::log(static_cast<double>(c_.relative_max_distance) / static_cast<double>(exact));
    // A power that is whole comes out a little below or above.
    const auto step = static_cast<Index>(part * static_cast<double>(all - exact) + 1e-9);
    return side + std::min(all - 1, exact + step);
  }

  void attend(Index head, const Rows& q, const Rows& k, const Rows& v, const Reach& reach,
              Rows& out) const {
    const auto d = static_cast<std::size_t>(c_.d_k);
    const auto to = static_cast<std::size_t>(head) * d;
    const auto from = static_cast<std::size_t>(head / (c_.num_heads / c_.num_kv_heads)) * d;
    const bool ablated = reach.pass && reach.pass->ablated.contains({reach.layer, head});
    Rows scores(q.size(), std::vector<double>(k.size(), -INFINITY));
    for (std::size_t i = 0; i < q.size(); ++i) {
      for (std::size_t j = 0; j < k.size(); ++j) {
        if (may_read(static_cast<Index>(i), static_cast<Index>(j), reach)) {
          const double distance = static_cast<double>(j) - static_cast<double>(i);
          scores[i][j] = score(q[i], k[j], head, distance, reach.crosses);
        }
      }
    }
    visit(reach, ModelSite::kScores, scores, head);
    Rows weights = scores;
    for (std::vector<double>& row : weights) {
      const double most = *std::max_element(row.begin(), row.end());
      double total = 0.0;
      for (double& x : row) {
        total += x = most > -INFINITY ? std::exp(x - most) : 0.0;
      }
      for (double& x : row) {
        x = total > 0 ? x / total : 0.0;
      }
    }
    visit(reach, ModelSite::kWeights, weights, head);
    Rows entropy(q.size(), std::vector<double>(1));
    for (std::size_t i = 0; i < q.size(); ++i) {
      for (std::size_t j = 0; j < k.size(); ++j) {
        const double w = weights[i][j];
        entropy[i][0] -= w != 0 ? w * std::log(w) : 0.0;
        for (std::size_t e = 0; e < d && !ablated && w != 0; ++e) {
          out[i][to + e] += w * v[j][from + e];
        }
      }
    }
    visit(reach, ModelSite::kEntropy, entropy, head);
    if (reach.trace) {
      reach.trace->weights.push_back(std::move(weights));
      std::vector<double> nats;
      for (const std::vector<double>& row : entropy) {
        nats.push_back(row[0]);
      }
      reach.trace->entropy.push_back(std::move(nats));
    }
  }

  LanguageModelConfig c_;
  std::vector<Index> windows_, rotations_;
  std::vector<double> alibi_;
};

}  // namespace qkv::test::oracle
