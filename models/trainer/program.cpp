// Trains a model as its standard input says. A request is a line of JSON, followed by as many bytes as its "bytes" says; so is
// an answer. models/trainer/native.js writes the requests. Numbers in bytes are little endian, as on every machine that has
// these kernels.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "qkv/isa.hpp"
#include "qkv/threads.hpp"
#include "qkv/train/language_model.hpp"

namespace {

using Json = nlohmann::json;
using qkv::Index;
namespace train = qkv::train;

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(const qkv::Status& status) {
  if (!status.ok()) {
    throw Refused(status.message());
  }
}

/// Takes every key out of `from` that it knows, so that what is left over can be refused.
class Fields {
 public:
  Fields(const char* name, Json from) : name_(name), from_(std::move(from)) {}
  ~Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  template <class T>
  void take(const char* key, T& to) {
    if (from_.contains(key)) {
      to = from_[key].get<T>();
      from_.erase(key);
    }
  }
  /// One of the names of an enumeration, in its order.
  template <class T>
  void take(const char* key, T& to, std::initializer_list<const char*> names) {
    if (!from_.contains(key)) {
      return;
    }
    const std::string name = from_[key];
    const auto* at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      throw Refused(std::string(key) + " is " + name + ", which is unknown");
    }
    to = static_cast<T>(at - names.begin());
    from_.erase(key);
  }
  Json take(const char* key) {
    Json found = from_.value(key, Json());
    from_.erase(key);
    return found;
  }
  void finish() const {
    if (!from_.empty()) {
      throw Refused(std::string(name_) + " has no " + from_.begin().key());
    }
  }

 private:
  const char* name_;
  Json from_;
};

qkv::LanguageModelConfig config_of(const Json& json) {
  qkv::LanguageModelConfig c;
  Fields fields("config", json);
  fields.take("vocabulary", c.vocabulary);
  fields.take("numLayers", c.num_layers);
  fields.take("dModel", c.d_model);
  fields.take("numHeads", c.num_heads);
  fields.take("numKvHeads", c.num_kv_heads);
  fields.take("dK", c.d_k);
  fields.take("dFeedForward", c.d_feed_forward);
  fields.take("maxLength", c.max_length);
  fields.take("causal", c.causal);
  fields.take("norm", c.norm, {"pre", "post"});
  fields.take("normType", c.norm_type, {"layer", "rms"});
  fields.take("epsilon", c.epsilon);
  fields.take("activation", c.activation, {"relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu"});
  fields.take("positions", c.positions, {"none", "learned", "sinusoidal", "rotary", "alibi"});
  if (const Json rotary = fields.take("rotary"); !rotary.is_null()) {
    Fields of_rotary("rotary", rotary);
    of_rotary.take("base", c.rotary.base);
    of_rotary.take("rotaryDim", c.rotary.rotary_dim);
    of_rotary.take("interleaved", c.rotary.interleaved);
    of_rotary.finish();
  }
  fields.take("qkNorm", c.qk_norm);
  fields.take("parallelResidual", c.parallel_residual);
  fields.take("tiedEmbeddings", c.tied_embeddings);
  if (const Json biases = fields.take("biases"); !biases.is_null()) {
    c.biases = biases.get<bool>();
  }
  fields.take("embeddingScale", c.embedding_scale);
  fields.take("window", c.window);
  fields.take("attentionSoftcap", c.attention_softcap);
  fields.finish();
  return c;
}

train::TrainerOptions options_of(const Json& json) {
  train::TrainerOptions o;
  Fields fields("options", json);
  fields.take("seed", o.seed);
  const Json rate = fields.take("learningRate");
  if (rate.is_number()) {
    o.schedule.peak = rate.get<float>();
  } else if (!rate.is_null()) {
    Fields schedule("learningRate", rate);
    schedule.take("peak", o.schedule.peak);
    schedule.take("warmup", o.schedule.warmup);
    schedule.take("steps", o.schedule.steps);
    schedule.take("final", o.schedule.last);
    schedule.finish();
  }
  if (const Json betas = fields.take("betas"); !betas.is_null()) {
    o.beta1 = betas.at(0).get<float>();
    o.beta2 = betas.at(1).get<float>();
  }
  fields.take("epsilon", o.epsilon);
  fields.take("weightDecay", o.weight_decay);
  fields.take("clipNorm", o.clip_norm);
  fields.take("dropout", o.dropout);
  fields.take("deviation", o.deviation);
  fields.finish();
  return o;
}

/// The bytes of a request or an answer.
using Bytes = std::vector<char>;

class Program {
 public:
  /// Answers one request; `payload` becomes that of the answer.
  Json answer(const Json& request, Bytes& payload) {
    const std::string op = request.at("op");
    if (op == "create") {
      return create(request);
    }
    if (op == "step" || op == "evaluate") {
      return learn(request, op == "step", payload);
    }
    if (op == "forward") {
      return forward(request, payload);
    }
    if (op == "read" || op == "write") {
      return move_numbers(request, op == "read", payload);
    }
    if (op == "setSteps") {
      require(trainer_.set_steps(request.at("steps")));
      return Json::object();
    }
    throw Refused("unknown op " + op);
  }

 private:
  Json create(const Json& request) {
    const unsigned threads = request.value("threads", 1U);
    require(train::LanguageModelTrainer::create(config_of(request.at("config")),
                                                options_of(request.at("options")), trainer_));
    threads_ = threads > 1 ? std::make_unique<qkv::Threads>(threads) : nullptr;
    workspace_ = std::make_unique<qkv::Workspace>(threads_ ? &threads_->pool() : nullptr);
    Json arrays = Json::array();
    for (Index i = 0; i < trainer_.array_count(); ++i) {
      const train::TrainedArray a = trainer_.array(i);
      Json shape = {a.value.extent(0)};
      if (a.value.rank == 2) {
        shape.push_back(a.value.extent(1));
      }
      arrays.push_back({{"name", a.name}, {"shape", shape}});
    }
    return {
        {"parameters", trainer_.parameter_count()}, {"arrays", arrays}, {"isa", qkv::active_isa()}};
  }

  /// ids, then targets where there are any, then lengths where there are any: of 32 bits each.
  train::LanguageBatch batch_of(const Json& request, Bytes& payload, bool targets) {
    const Index rows = request.at("batch");
    const Index tokens = request.at("tokens");
    const bool lengths = request.value("lengths", false);
    const Index expected = rows * tokens * (targets ? 2 : 1) + (lengths ? rows : 0);
    numbers_.resize(static_cast<std::size_t>(expected));
    if (payload.size() != numbers_.size() * sizeof(std::int32_t)) {
      throw Refused("the request has " + std::to_string(payload.size()) + " bytes");
    }
    std::memcpy(numbers_.data(), payload.data(), payload.size());
    payload.clear();
    train::LanguageBatch batch;
    batch.tokens.ids = {numbers_.data(), {rows, tokens}};
    const std::int32_t* next = numbers_.data() + rows * tokens;
    if (targets) {
      batch.targets = {next, {rows, tokens}};
      next += rows * tokens;
    }
    if (lengths) {
      batch.tokens.key_lengths = {next, {rows}};
    }
    return batch;
  }

  Json learn(const Json& request, bool step, Bytes& payload) {
    const train::LanguageBatch batch = batch_of(request, payload, true);
    train::StepResult result;
    if (step) {
      require(trainer_.step(batch, *workspace_, result));
    } else {
      require(trainer_.evaluate(batch, *workspace_, result.before));
    }
    return {{"loss", result.before.loss},
            {"accuracy", result.before.accuracy},
            {"gradientNorm", result.gradient_norm},
            {"learningRate", result.learning_rate},
            {"step", result.step}};
  }

  /// Logits, then for each of "layers" the weights of its heads.
  Json forward(const Json& request, Bytes& payload) {
    const train::LanguageBatch batch = batch_of(request, payload, false);
    const qkv::LanguageModelConfig& c = trainer_.config();
    const Index rows = batch.tokens.ids.extent(0);
    const Index tokens = batch.tokens.ids.extent(1);
    const std::vector<Index> layers = request.value("layers", std::vector<Index>());
    const Index of_logits = rows * tokens * c.vocabulary;
    const Index of_layer = rows * c.num_heads * tokens * tokens;
    std::vector<float> numbers(
        static_cast<std::size_t>(of_logits + static_cast<Index>(layers.size()) * of_layer));
    std::vector<train::LayerReading> readings;
    for (const Index layer : layers) {
      float* to = numbers.data() + of_logits + static_cast<Index>(readings.size()) * of_layer;
      readings.push_back({.layer = layer, .weights = {to, {rows, c.num_heads, tokens, tokens}}});
    }
    require(trainer_.forward(batch.tokens, {numbers.data(), {rows, tokens, c.vocabulary}}, readings,
                             *workspace_));
    payload.resize(numbers.size() * sizeof(float));
    std::memcpy(payload.data(), numbers.data(), payload.size());
    return Json::object();
  }

  Json move_numbers(const Json& request, bool read, Bytes& payload) {
    const Index i = request.at("array");
    if (i < 0 || i >= trainer_.array_count()) {
      throw Refused("there is no array " + std::to_string(i));
    }
    const train::TrainedArray a = trainer_.array(i);
    const auto moments = trainer_.moments(i);
    const std::map<std::string, float*> parts = {{"value", a.value.data},
                                                 {"gradient", const_cast<float*>(a.gradient.data)},
                                                 {"first", moments.first},
                                                 {"second", moments.second}};
    float* data = parts.at(request.at("part"));
    const std::size_t bytes = static_cast<std::size_t>(a.value.size()) * sizeof(float);
    if (read) {
      payload.resize(bytes);
      std::memcpy(payload.data(), data, bytes);
    } else if (payload.size() == bytes) {
      std::memcpy(data, payload.data(), bytes);
      payload.clear();
    } else {
      throw Refused(std::string(a.name) + " has " + std::to_string(bytes) + " bytes");
    }
    return Json::object();
  }

  train::LanguageModelTrainer trainer_;
  std::unique_ptr<qkv::Threads> threads_;
  std::unique_ptr<qkv::Workspace> workspace_;
  std::vector<std::int32_t> numbers_;
};

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  Program program;
  for (std::string line; std::getline(std::cin, line);) {
    Bytes payload;
    Json answer;
    try {
      const Json request = Json::parse(line);
      payload.resize(request.value("bytes", std::size_t{0}));
      std::cin.read(payload.data(), static_cast<std::streamsize>(payload.size()));
      answer = program.answer(request, payload);
    } catch (const std::exception& error) {
      payload.clear();
      answer = {{"error", error.what()}};
    }
    answer["bytes"] = payload.size();
    std::cout << answer.dump() << '\n';
    std::cout.write(payload.data(), static_cast<std::streamsize>(payload.size()));
    std::cout.flush();
  }
}
