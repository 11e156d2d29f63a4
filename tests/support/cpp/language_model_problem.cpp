#include "language_model_problem.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace qkv::test {
namespace {

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

/// The number nearest to x of those with `digits` binary digits and exponents from `least` on.
double rounded(double x, int digits, int least) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - digits, least - digits + 1));
  return std::nearbyint(x / unit) * unit;
}

}  // namespace

// ------------------------------------------------------------------------------------------ formats

double number_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10U & 31;
  const int fraction = bits & 1023;
  const double size = exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                      : exponent == 0
                          ? std::ldexp(fraction, -24)
                          : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15U ? -size : size;
}

std::uint16_t nearest_half(double x) {
  const double size = rounded(std::abs(x), 11, -14);
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (!(size < 65520)) {
    return static_cast<std::uint16_t>(sign | 0x7C00);
  }
  int exponent = 0;
  std::frexp(size, &exponent);
  const int field = std::max(exponent + 14, 1);  // of a number with a leading 1
  const auto digits = static_cast<int>(std::ldexp(size, 25 - field));
  return static_cast<std::uint16_t>(sign | ((field << 10) + digits - 1024));
}

double number_of_bfloat(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16U));
}

std::uint16_t nearest_bfloat(double x) {
  const auto near = static_cast<float>(rounded(x, 8, -126));
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(near) >> 16U);
}

Int8Block int8_block(const std::vector<double>& w) {
  double most = 0.0;
  for (const double x : w) {
    most = std::max(most, std::abs(x));
  }
  Int8Block block;
  block.scale = nearest_half(most / 127);
  const double d = number_of_half(block.scale);
  for (const double x : w) {
    block.numbers.push_back(static_cast<std::int8_t>(d == 0 ? 0 : std::round(x / d)));
  }
  return block;
}

std::vector<double> kept(const Matrix& m, WeightFormat format, bool by_rows) {
  std::vector<double> all(m.values.begin(), m.values.end());
  if (format == WeightFormat::kBf16) {
    for (double& x : all) {
      x = number_of_bfloat(nearest_bfloat(x));
    }
  }
  const Index inputs = by_rows ? m.columns : m.rows;
  const Index outputs = by_rows ? m.rows : m.columns;
  for (Index o = 0; o < outputs && format == WeightFormat::kInt8; ++o) {
    const auto place = [&](Index i) { return size(by_rows ? o * inputs + i : i * outputs + o); };
    for (Index first = 0; first < inputs; first += 32) {
      std::vector<double> numbers;
      for (Index i = first; i < std::min(inputs, first + 32); ++i) {
        numbers.push_back(all[place(i)]);
      }
      const Int8Block block = int8_block(numbers);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        all[place(first + static_cast<Index>(i))] = block.number(i);
      }
    }
  }
  return all;
}

// ------------------------------------------------------------------------------------------ families

namespace {

LanguageModelConfig base() {
  LanguageModelConfig c;
  c.vocabulary = 19;
  c.num_layers = 2;
  c.d_model = 24;
  c.num_heads = 4;
  c.d_feed_forward = 40;
  c.max_length = 48;
  return c;
}

LanguageModelConfig rms(ModelActivation activation = ModelActivation::kSwiglu) {
  LanguageModelConfig c = base();
  c.norm_type = NormType::kRms;
  c.activation = activation;
  c.positions = ModelPositions::kRotary;
  c.epsilon = 1e-6F;
  return c;
}

LanguageModelConfig gpt2() {
  LanguageModelConfig c = base();
  c.activation = ModelActivation::kGeluTanh;
  c.tied_embeddings = true;
  return c;
}

LanguageModelConfig neox(bool interleaved) {
  LanguageModelConfig c = base();
  c.num_heads = 3;
  c.positions = ModelPositions::kRotary;
  c.rotary.rotary_dim = interleaved ? 6 : 2;
  c.rotary.interleaved = interleaved;
  c.parallel_residual = true;
  return c;
}

LanguageModelConfig llama3() {
  LanguageModelConfig c = rms();
  c.num_kv_heads = 1;
  c.rotary.base = 500000;
  c.rotary.scaling = {.type = RotaryScaling::Type::kLlama3, .factor = 8, .original_length = 64};
  c.tied_embeddings = true;
  return c;
}

LanguageModelConfig qwen3() {
  LanguageModelConfig c = rms();
  c.num_kv_heads = 2;
  c.d_k = 10;
  c.qk_norm = true;
  c.rotary.base = 1e6;
  return c;
}

LanguageModelConfig gemma() {
  LanguageModelConfig c = rms(ModelActivation::kGegluTanh);
  c.num_kv_heads = 1;
  c.d_k = 8;
  c.embedding_scale = 4.89898F;
  c.tied_embeddings = true;
  return c;
}

LanguageModelConfig gemma2() {
  static const std::vector<std::int32_t> windows = {3, -1, 4};
  LanguageModelConfig c = gemma();
  c.num_layers = 3;
  c.d_model = 64;
  c.d_feed_forward = 96;
  c.num_kv_heads = 2;
  c.attention_scale = 0.25F;
  c.attention_softcap = 5.0F;
  c.logit_softcap = 3.0F;
  c.windows = {windows.data(), {3}};
  c.post_norms = true;
  return c;
}

LanguageModelConfig bert() {
  LanguageModelConfig c = base();
  c.causal = false;
  c.norm = NormPlacement::kPost;
  c.token_types = 2;
  c.embedding_norm = true;
  c.head = false;
  c.epsilon = 1e-12F;
  return c;
}

LanguageModelConfig bloom() {
  LanguageModelConfig c = gpt2();
  c.num_heads = 6;
  c.positions = ModelPositions::kAlibi;
  c.embedding_norm = true;
  return c;
}

LanguageModelConfig sinusoidal() {
  LanguageModelConfig c = base();
  c.norm = NormPlacement::kPost;
  c.activation = ModelActivation::kRelu;
  c.positions = ModelPositions::kSinusoidal;
  c.embedding_scale = -2.0F;
  c.biases = false;
  c.norm_type = NormType::kRms;
  return c;
}

LanguageModelConfig masked() {
  LanguageModelConfig c = base();
  c.causal = false;
  c.positions = ModelPositions::kRotary;
  c.activation = ModelActivation::kGeglu;
  c.window = 5;
  c.tied_embeddings = true;
  return c;
}

LanguageModelConfig bare() {
  LanguageModelConfig c = base();
  c.d_feed_forward = 0;
  c.positions = ModelPositions::kNone;
  c.qk_norm = true;
  return c;
}

}  // namespace

std::vector<Family> families() {
  LanguageModelConfig llama = rms();
  llama.num_kv_heads = 2;
  LanguageModelConfig mistral = llama;
  mistral.window = 3;
  LanguageModelConfig qwen2 = llama;
  qwen2.qkv_biases = true;
  LanguageModelConfig silu = base();
  silu.activation = ModelActivation::kSilu;
  silu.qkv_biases = false;
  return {{"gpt2", gpt2()},
          {"gpt-neox", neox(false)},
          {"gpt-j", neox(true)},
          {"llama", llama},
          {"llama3", llama3()},
          {"mistral", mistral},
          {"qwen2", qwen2},
          {"qwen3", qwen3()},
          {"gemma", gemma()},
          {"gemma2", gemma2()},
          {"bert", bert()},
          {"bloom", bloom()},
          {"sinusoidal", sinusoidal()},
          {"masked", masked()},
          {"bare", bare()},
          {"silu", silu}};
}

LanguageModelConfig family(const std::string& name) {
  for (const Family& f : families()) {
    if (f.name == name) {
      return f.config;
    }
  }
  FAIL("there is no family " << name);
  return {};
}

// ------------------------------------------------------------------------------------------- arrays

namespace {

/// Writes the list of arrays.
class Lister {
 public:
  explicit Lister(const LanguageModelConfig& config) : c_(config) {
    const bool layer_norm = c_.norm_type == NormType::kLayer;
    biases_ = c_.biases.value_or(layer_norm);
    betas_ = biases_ && layer_norm;
    qkv_biases_ = c_.qkv_biases.value_or(biases_);
  }

  std::vector<ModelArrayOf> list() {
    add("embedding", {c_.vocabulary, c_.d_model});
    if (c_.token_types > 0) {
      add("tokenTypes", {c_.token_types, c_.d_model});
    }
    if (c_.positions == ModelPositions::kLearned) {
      add("positions", {c_.max_length, c_.d_model});
    }
    if (c_.embedding_norm) {
      norm("embeddingNorm");
    }
    for (Index n = 0; n < c_.num_layers; ++n) {
      layer("layers." + std::to_string(n) + ".");
    }
    if (c_.norm == NormPlacement::kPre) {
      norm("norm");
    }
    if (c_.head && !c_.tied_embeddings) {
      add("head", {c_.d_model, c_.vocabulary});
    }
    return std::move(all_);
  }

 private:
  void add(const std::string& name, std::vector<Index> shape) {
    all_.push_back({name, std::move(shape)});
  }
  void norm(const std::string& at) {
    add(at + ".gamma", {c_.d_model});
    if (betas_) {
      add(at + ".beta", {c_.d_model});
    }
  }
  void map(const std::string& at, const std::string& name, Index in, Index out, bool bias) {
    add(at + "w" + name, {in, out});
    if (bias) {
      add(at + "b" + name, {out});
    }
  }
  void layer(const std::string& at) {
    const Index d_k = c_.d_k == 0 ? c_.d_model / c_.num_heads : c_.d_k;
    const Index of_q = c_.num_heads * d_k;
    const Index of_kv = (c_.num_kv_heads == 0 ? c_.num_heads : c_.num_kv_heads) * d_k;
    const std::string attention = at + "attention.";
    norm(at + "norm1");
    map(attention, "q", c_.d_model, of_q, qkv_biases_);
    map(attention, "k", c_.d_model, of_kv, qkv_biases_);
    map(attention, "v", c_.d_model, of_kv, qkv_biases_);
    for (const char* head : {"q", "k"}) {
      if (c_.qk_norm) {
        add(attention + head + "Gamma", {d_k});
      }
      if (c_.qk_norm && betas_) {
        add(attention + head + "Beta", {d_k});
      }
    }
    map(attention, "o", of_q, c_.d_model, biases_);
    if (c_.post_norms) {
      norm(at + "postNorm1");
    }
    if (c_.d_feed_forward == 0) {
      return;
    }
    norm(at + "norm2");
    map(at + "feedForward.", "1", c_.d_model, c_.d_feed_forward, biases_);
    if (c_.activation >= ModelActivation::kSwiglu) {
      map(at + "feedForward.", "Gate", c_.d_model, c_.d_feed_forward, biases_);
    }
    map(at + "feedForward.", "2", c_.d_feed_forward, c_.d_model, biases_);
    if (c_.post_norms) {
      norm(at + "postNorm2");
    }
  }

  LanguageModelConfig c_;
  bool biases_, betas_, qkv_biases_;
  std::vector<ModelArrayOf> all_;
};

/// Whether an array is kept in the format of the weights, and if so, by rows.
bool is_formatted(const ModelArrayOf& array) {
  return array.shape.size() == 2 && array.name != "positions" && array.name != "tokenTypes";
}

}  // namespace

std::vector<ModelArrayOf> arrays_of(const LanguageModelConfig& config) {
  return Lister(config).list();
}

ModelWeights::ModelWeights(const LanguageModelConfig& config, std::uint64_t seed)
    : list(arrays_of(config)), config_(config) {
  Random random(seed);
  for (const ModelArrayOf& array : list) {
    const bool matrix = array.shape.size() == 2;
    const Index count = array.shape[0] * (matrix ? array.shape[1] : 1);
    const bool table = array.name == "embedding" || (matrix && !is_formatted(array));
    const double limit = table ? 1.0 : matrix ? 2.4 / std::sqrt(static_cast<double>(array.shape[0])) : 0.4;
    std::vector<float> values = random_floats(random, count, static_cast<float>(limit));
    const bool gain = array.name.ends_with("amma");
    for (float& x : values) {
      x += gain ? 1.0F : 0.0F;
    }
    arrays[array.name] = std::move(values);
  }
}

Status fill_whole(LanguageModel& model, Index i, const std::vector<float>& values) {
  const ModelArray array = model.array(i);
  const Index columns = array.shape[array.rank - 1];
  return model.fill(i, {.type = NumberType::kF32,
                        .data = values.data(),
                        .count = array.rank == 2 ? array.shape[0] : 1,
                        .row_bytes = columns * 4});
}

LanguageModel ModelWeights::make(WeightFormat format) const {
  LanguageModel model;
  require_ok(LanguageModel::create(config_, format, model));
  REQUIRE(model.array_count() == static_cast<Index>(list.size()));
  for (Index i = 0; i < model.array_count(); ++i) {
    require_ok(fill_whole(model, i, arrays.at(model.array(i).name)));
  }
  require_ok(model.finish());
  return model;
}

oracle::Model ModelWeights::exact(WeightFormat format) const {
  std::map<std::string, std::vector<double>> all;
  for (const ModelArrayOf& array : list) {
    const std::vector<float>& values = arrays.at(array.name);
    all[array.name] = is_formatted(array) ? kept({values, array.shape[0], array.shape[1]}, format,
                                                 array.name == "embedding")
                                          : std::vector<double>(values.begin(), values.end());
  }
  return {config_, std::move(all)};
}

// -------------------------------------------------------------------------------------------- calls

ModelTokens::ModelTokens(const LanguageModelConfig& config, Index b, Index n, std::uint64_t seed)
    : batch(b), length(n) {
  Random random(seed);
  for (Index i = 0; i < b * n; ++i) {
    ids.push_back(static_cast<std::int32_t>(random.below(config.vocabulary)));
    if (config.token_types > 0) {
      types.push_back(static_cast<std::int32_t>(random.below(config.token_types)));
    }
  }
}

ModelTokens ModelTokens::part(Index first, Index count) const {
  ModelTokens some = *this;
  some.length = count;
  some.ids.clear();
  some.types.clear();
  for (Index b = 0; b < batch; ++b) {
    const Index from = b * length + first;
    some.ids.insert(some.ids.end(), ids.begin() + from, ids.begin() + from + count);
    if (!types.empty()) {
      some.types.insert(some.types.end(), types.begin() + from, types.begin() + from + count);
    }
  }
  return some;
}

ModelCall::ModelCall(const LanguageModel& model, const ModelTokens& of, const ModelAsk& asked)
    : tokens(of), ask(asked) {
  const LanguageModelConfig& c = model.config();
  const Index b = tokens.batch;
  const Index t = tokens.length;
  const Index rows = ask.last ? 1 : t;
  args.ids = {tokens.ids.data(), {b, t}};
  if (!tokens.types.empty()) {
    args.token_types = {tokens.types.data(), {b, t}};
  }
  if (!tokens.lengths.empty()) {
    args.key_lengths = {tokens.lengths.data(), {b}};
  }
  const auto room = [](std::vector<float>& values, Index count) {
    values.assign(size(count), kUntouched);
    return values.data();
  };
  if (c.head) {
    args.logits = {room(results.logits, b * rows * c.vocabulary), {b, rows, c.vocabulary}};
  }
  if (c.head && t > 1 && !ask.last) {
    args.surprisal = {room(results.surprisal, b * (t - 1)), {b, t - 1}};
  }
  args.hidden = {room(results.hidden, b * rows * c.d_model), {b, rows, c.d_model}};
  args.session = ask.session;
  args.ablated = ask.ablated;
  const Index keys = t + (ask.session ? ask.session->length() : 0);
  const Index end = ask.row_end < 0 ? t : ask.row_end;
  results.layers.resize(ask.readings ? size(c.num_layers) : 0);
  for (Index n = 0; n < c.num_layers && ask.readings; ++n) {
    ModelResults::Layer& layer = results.layers[size(n)];
    const Index read = end - ask.row_begin;
    ModelReading reading{.layer = n, .row_begin = ask.row_begin, .row_end = ask.row_end};
    reading.weights = {room(layer.weights, b * c.num_heads * read * keys), {b, c.num_heads, read, keys}};
    reading.entropy = {room(layer.entropy, b * c.num_heads * t), {b, c.num_heads, t}};
    reading.residual = {room(layer.residual, b * t * c.d_model), {b, t, c.d_model}};
    if (c.head) {
      reading.logits = {room(layer.logits, b * t * c.vocabulary), {b, t, c.vocabulary}};
    }
    readings.push_back(reading);
  }
  args.readings = readings;
}

ModelResults run(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask,
                 Workspace& workspace) {
  ModelCall call(model, tokens, ask);
  require_ok(model.forward(call.args, workspace));
  return std::move(call.results);
}

ModelResults run(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask) {
  Workspace workspace;
  return run(model, tokens, ask, workspace);
}

// ------------------------------------------------------------------------------------------- bounds

namespace {

/// The root of the mean square of differences.
class Spread {
 public:
  void add(const oracle::Rows& a, const oracle::Rows& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < a[i].size(); ++j) {
        squares_ += (a[i][j] - b[i][j]) * (a[i][j] - b[i][j]);
        count_ += 1;
      }
    }
  }
  void add(const std::vector<oracle::Rows>& a, const std::vector<oracle::Rows>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      add(a[i], b[i]);
    }
  }
  /// Results are float32, and differ from exact ones by a rounding at least.
  [[nodiscard]] double bound() const {
    return count_ == 0 ? 0.0 : 8 * std::sqrt(squares_ / count_) + 4 * bounds::kU;
  }

 private:
  double squares_ = 0.0;
  double count_ = 0.0;
};

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

oracle::Rows surprisal_of(const oracle::Rows& logits, const std::vector<std::int32_t>& ids) {
  oracle::Rows all(1);
  for (std::size_t t = 0; t + 1 < ids.size() && !logits.empty(); ++t) {
    all[0].push_back(oracle::negative_log_softmax(logits[t])[size(ids[t + 1])]);
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
    }
  }
  [[nodiscard]] ModelBounds bounds() const {
    ModelBounds all{logits_.bound(), hidden_.bound(), surprisal_.bound(), {}};
    for (const Layer& layer : layers_) {
      all.layers.push_back({layer.weights.bound(), layer.entropy.bound(), layer.residual.bound(),
                            layer.logits.bound()});
    }
    return all;
  }

 private:
  struct Layer {
    Spread weights, entropy, residual, logits;
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
      pass.length = tokens.lengths[size(b)];
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
  const auto tokens = size(ask.last ? 1 : t);
  Side logits(name + " logits", bounds.logits, meaningful_);
  Side hidden(name + " hidden", bounds.hidden, meaningful_);
  Side surprisal(name + " surprisal", bounds.surprisal, meaningful_);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const auto row = [&](const oracle::Rows& of, std::size_t i) { return of[size(from) + i]; };
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
      surprisal.add(found.surprisal, b * size(t - 1),
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
}

void ModelCheck::compare_layers(const std::string& name, const ModelResults& found,
                                const ModelAsk& ask, Index first, Index t) const {
  const auto begin = size(ask.row_begin);
  const auto end = size(ask.row_end < 0 ? t : ask.row_end);
  const auto keys = size(first + t);
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
          const std::vector<double>& row = exact.weights[h][size(first) + i];
          const std::size_t at = ((b * heads + h) * (end - begin) + i - begin) * keys;
          weights.add(layer.weights, at, {row.begin(), row.begin() + static_cast<Index>(keys)});
        }
        const std::vector<double>& nats = exact.entropy[h];
        entropy.add(layer.entropy, (b * heads + h) * size(t),
                    {nats.begin() + first, nats.begin() + first + t});
      }
      for (std::size_t i = 0; i < size(t); ++i) {
        const std::vector<double>& stream = exact.residual[size(first) + i];
        residual.add(layer.residual, (b * size(t) + i) * stream.size(), stream);
        const oracle::Rows& logits = lenses_[b * found.layers.size() + n];
        if (!logits.empty()) {
          const std::vector<double>& row = logits[size(first) + i];
          lens.add(layer.logits, (b * size(t) + i) * row.size(), row);
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
