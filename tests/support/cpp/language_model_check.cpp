#include "language_model_check.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace qkv::test {
namespace {

/// The greatest difference.
class Spread {
 public:
  void add(const oracle::Rows& a, const oracle::Rows& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < a[i].size(); ++j) {
        most_ = std::max(most_, std::abs(a[i][j] - b[i][j]));
      }
    }
  }
  void add(const std::vector<oracle::Rows>& a, const std::vector<oracle::Rows>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      add(a[i], b[i]);
    }
  }
  /// Results are float32, and differ from exact ones by a rounding at least.
  [[nodiscard]] double bound() const { return 3 * most_ + 4 * bounds::kU; }

 private:
  double most_ = 0.0;
};

}  // namespace

oracle::Model::Noise noise_of(const Rounding& rounding, Random& random) {
  oracle::Model::Noise noise;
  const auto unit = [&random] { return static_cast<double>(random.uniform(1.0F)); };
  noise.out_of_map = [unit](double value, double size, std::size_t inputs) {
    return value + bounds::kU * static_cast<double>(inputs + 2) * size * unit();
  };
  if (rounding.int8_activations) {
    noise.into_map = [unit](std::vector<double>& row) {
      for (std::size_t first = 0; first < row.size(); first += 32) {
        const std::size_t end = std::min(row.size(), first + 32);
        double most = 0.0;
        for (std::size_t i = first; i < end; ++i) {
          most = std::max(most, std::abs(row[i]));
        }
        for (std::size_t i = first; i < end; ++i) {
          row[i] += most / 126 * unit();
        }
      }
    };
  }
  if (rounding.bf16_cache) {
    noise.stored = [unit](double x) { return x * (1 + 0x1p-8 * unit()); };
  }
  return noise;
}

namespace {

oracle::Rows surprisal_of(const oracle::Rows& logits, const std::vector<std::int32_t>& ids) {
  oracle::Rows all(1);
  // Logits of classes, or of whole rows, are not those of the next token.
  const bool of_tokens = logits.size() == ids.size();
  for (std::size_t t = 0; of_tokens && t + 1 < ids.size(); ++t) {
    if (to_size(ids[t + 1]) >= logits[t].size()) {
      return {{}};
    }
    all[0].push_back(oracle::negative_log_softmax(logits[t])[to_size(ids[t + 1])]);
  }
  return all;
}

/// How far results move when all that rounds is moved.
class Measure {
 public:
  explicit Measure(std::size_t layers) : layers_(layers) {}

  void add(const oracle::Model& model, const oracle::Trace& exact, const oracle::Trace& moved,
           const std::vector<std::int32_t>& ids) {
    logits_.add(exact.logits, moved.logits);
    hidden_.add(exact.hidden, moved.hidden);
    surprisal_.add(surprisal_of(exact.logits, ids), surprisal_of(moved.logits, ids));
    for (std::size_t n = 0; n < layers_.size(); ++n) {
      const oracle::LayerTrace& a = exact.layers[n];
      const oracle::LayerTrace& b = moved.layers[n];
      layers_[n].weights.add(a.weights, b.weights);
      layers_[n].entropy.add(a.entropy, b.entropy);
      layers_[n].residual.add(a.residual, b.residual);
      layers_[n].logits.add(model.logits(a.residual), model.logits(b.residual));
      layers_[n].q.add(a.q, b.q);
      layers_[n].k.add(a.k, b.k);
      layers_[n].v.add(a.v, b.v);
    }
  }
  [[nodiscard]] ModelBounds bounds() const {
    ModelBounds all{logits_.bound(), hidden_.bound(), surprisal_.bound(), {}};
    for (const Layer& layer : layers_) {
      all.layers.push_back({layer.weights.bound(), layer.entropy.bound(), layer.residual.bound(),
                            layer.logits.bound(), layer.q.bound(), layer.k.bound(),
                            layer.v.bound()});
    }
    return all;
  }

 private:
  struct Layer {
    Spread weights, entropy, residual, logits, q, k, v;
  };
  Spread logits_, hidden_, surprisal_;
  std::vector<Layer> layers_;
};

}  // namespace

ModelCheck::ModelCheck(oracle::Model model, const ModelTokens& tokens, const Rounding& rounding,
                       std::vector<ModelHead> ablated)
    : tokens_(tokens), meaningful_(!rounding.int8_activations && !rounding.bf16_cache) {
  Random random(77);
  oracle::Model moved = model;
  moved.noise = noise_of(rounding, random);
  std::set<std::pair<Index, Index>> heads;
  for (const ModelHead& head : ablated) {
    heads.insert({head.layer, head.head});
  }
  std::unique_ptr<Measure> measure;
  for (Index b = 0; b < tokens.batch; ++b) {
    const std::vector<std::int32_t> ids = tokens.row(b);
    oracle::Pass pass;
    pass.ablated = heads;
    if (!tokens.lengths.empty()) {
      pass.length = tokens.lengths[to_size(b)];
    }
    if (!tokens.types.empty()) {
      pass.types = {tokens.types.begin() + b * tokens.length,
                    tokens.types.begin() + (b + 1) * tokens.length};
    }
    rows.push_back(model.trace(ids, pass));
    measure = measure ? std::move(measure) : std::make_unique<Measure>(rows[0].layers.size());
    const int draws = tokens.length > 99 ? 1 : 4;  // of many tokens one is enough
    for (int draw = 0; draw < draws; ++draw) {
      measure->add(moved, rows.back(), moved.trace(ids, pass), ids);
    }
    for (oracle::LayerTrace& layer : rows.back().layers) {
      lenses_.push_back(model.logits(layer.residual));
    }
  }
  bounds = measure->bounds();
}

namespace {

/// One of the results beside the oracle's.
class Side {
 public:
  Side(std::string name, double bound, bool meaningful)
      : quantity_(std::move(name)), bound_(bound), meaningful_(meaningful) {}

  void add(const std::vector<float>& found, std::size_t at, const std::vector<double>& exact) {
    REQUIRE(at + exact.size() <= found.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      quantity_.add(static_cast<double>(found[at + i]), exact[i], bound_, meaningful_ ? 1.0 : 0.0);
    }
  }
  void finish() { require_within(quantity_); }

 private:
  Quantity quantity_;
  double bound_;
  bool meaningful_;
};

}  // namespace

void ModelCheck::compare(const std::string& name, const ModelResults& found, const ModelAsk& ask,
                         Index first, Index count) const {
  const Index t = count < 0 ? tokens_.length - first : count;
  const Index from = ask.last ? first + t - 1 : first;
  const auto tokens = to_size(ask.last ? 1 : t);
  Side logits(name + " logits", bounds.logits, meaningful_);
  Side hidden(name + " hidden", bounds.hidden, meaningful_);
  Side surprisal(name + " surprisal", bounds.surprisal, meaningful_);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const auto row = [&](const oracle::Rows& of, std::size_t i) { return of[to_size(from) + i]; };
    for (std::size_t i = 0; i < tokens; ++i) {
      if (!found.logits.empty()) {
        const std::vector<double> exact = row(rows[b].logits, i);
        logits.add(found.logits, (b * tokens + i) * exact.size(), exact);
      }
      const std::vector<double> exact = row(rows[b].hidden, i);
      hidden.add(found.hidden, (b * tokens + i) * exact.size(), exact);
    }
    if (!found.surprisal.empty()) {
      const std::vector<double> all =
          surprisal_of(rows[b].logits, tokens_.row(static_cast<Index>(b)))[0];
      surprisal.add(found.surprisal, b * to_size(t - 1),
                    {all.begin() + first, all.begin() + first + t - 1});
    }
  }
  hidden.finish();
  if (!found.logits.empty()) {
    logits.finish();
  }
  if (!found.surprisal.empty()) {
    surprisal.finish();
  }
  compare_layers(name, found, ask, first, t);
  compare_heads(name, found, ask, first, t);
}

/// Queries, keys and values, [B, heads, rows, d_k] beside rows of heads side by side.
void ModelCheck::compare_heads(const std::string& name, const ModelResults& found,
                               const ModelAsk& ask, Index first, Index t) const {
  const auto begin = to_size(ask.row_begin);
  const auto end = to_size(ask.row_end < 0 ? t : ask.row_end);
  for (std::size_t n = 0; n < found.layers.size(); ++n) {
    CAPTURE(n);
    const std::size_t d = rows[0].layers[n].q[0].size() / rows[0].layers[n].weights.size();
    const auto compare_one = [&](const char* which, oracle::Rows oracle::LayerTrace::* of,
                                 const std::vector<float>& values, double bound,
                                 std::pair<std::size_t, std::size_t> read) {
      Side side(name + " " + which, bound, meaningful_);
      const std::size_t count = read.second - read.first;
      for (std::size_t b = 0; b < rows.size(); ++b) {
        const oracle::Rows& exact = rows[b].layers[n].*of;
        const std::size_t heads = exact[0].size() / d;
        for (std::size_t h = 0; h < heads; ++h) {
          for (std::size_t i = 0; i < count; ++i) {
            const std::vector<double>& row = exact[to_size(first) + read.first + i];
            const auto at = row.begin() + static_cast<Index>(h * d);
            side.add(values, ((b * heads + h) * count + i) * d, {at, at + static_cast<Index>(d)});
          }
        }
      }
      side.finish();
    };
    const ModelResults::Layer& layer = found.layers[n];
    const ModelBounds::Layer& bound = bounds.layers[n];
    if (begin != end) {
      compare_one("q", &oracle::LayerTrace::q, layer.q, bound.q, {begin, end});
    }
    compare_one("k", &oracle::LayerTrace::k, layer.k, bound.k, {0, to_size(t)});
    compare_one("v", &oracle::LayerTrace::v, layer.v, bound.v, {0, to_size(t)});
  }
}

void ModelCheck::compare_layers(const std::string& name, const ModelResults& found,
                                const ModelAsk& ask, Index first, Index t) const {
  const auto begin = to_size(ask.row_begin);
  const auto end = to_size(ask.row_end < 0 ? t : ask.row_end);
  const auto keys = to_size(first + t);
  for (std::size_t n = 0; n < found.layers.size(); ++n) {
    CAPTURE(n);
    const ModelResults::Layer& layer = found.layers[n];
    Side weights(name + " weights", bounds.layers[n].weights, meaningful_);
    Side entropy(name + " entropy", bounds.layers[n].entropy, meaningful_);
    Side residual(name + " residual", bounds.layers[n].residual, meaningful_);
    Side lens(name + " lens", bounds.layers[n].logits, meaningful_);
    for (std::size_t b = 0; b < rows.size(); ++b) {
      const oracle::LayerTrace& exact = rows[b].layers[n];
      const std::size_t heads = exact.weights.size();
      for (std::size_t h = 0; h < heads; ++h) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::vector<double>& row = exact.weights[h][to_size(first) + i];
          const std::size_t at = ((b * heads + h) * (end - begin) + i - begin) * keys;
          weights.add(layer.weights, at, {row.begin(), row.begin() + static_cast<Index>(keys)});
        }
        const std::vector<double>& nats = exact.entropy[h];
        entropy.add(layer.entropy, (b * heads + h) * to_size(t),
                    {nats.begin() + first, nats.begin() + first + t});
      }
      for (std::size_t i = 0; i < to_size(t); ++i) {
        const std::vector<double>& stream = exact.residual[to_size(first) + i];
        residual.add(layer.residual, (b * to_size(t) + i) * stream.size(), stream);
        const oracle::Rows& logits = lenses_[b * found.layers.size() + n];
        if (!logits.empty()) {
          const std::vector<double>& row = logits[to_size(first) + i];
          lens.add(layer.logits, (b * to_size(t) + i) * row.size(), row);
        }
      }
    }
    weights.finish();
    entropy.finish();
    residual.finish();
    if (!layer.logits.empty()) {
      lens.finish();
    }
  }
}

}  // namespace qkv::test
