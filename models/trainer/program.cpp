// Trains a model as its standard input says. A request is a line of JSON, followed by as many bytes as its "bytes" says; so is
// an answer. models/trainer/native.js writes the requests. Numbers in bytes are little-endian.
#include <bit>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "qkv/isa.hpp"
#include "qkv/threads.hpp"
#include "requests.hpp"

namespace qkv::program {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers of requests are little-endian, and are read as they lie in memory");

/// The bytes of a request or an answer.
using Bytes = std::vector<char>;

/// The whole numbers of a request, one array after another.
class Numbers {
 public:
  explicit Numbers(Bytes& payload) : all_(payload.size() / sizeof(std::int32_t)) {
    if (payload.size() % sizeof(std::int32_t) != 0) {
      throw Refused("the request has " + std::to_string(payload.size()) + " bytes");
    }
    std::memcpy(all_.data(), payload.data(), payload.size());
    payload.clear();
  }

  TensorView<const std::int32_t> matrix(Index rows, Index columns) {
    return {take(rows * columns), {rows, columns}};
  }
  TensorView<const std::int32_t> vector(Index count) { return {take(count), {count}}; }
  void finish() const {
    if (next_ != all_.size()) {
      throw Refused(std::to_string(all_.size() - next_) + " numbers too many");
    }
  }

 private:
  const std::int32_t* take(Index count) {
    const std::size_t from = next_;
    next_ += static_cast<std::size_t>(count);
    if (next_ > all_.size()) {
      throw Refused("the request has " + std::to_string(all_.size()) + " numbers");
    }
    return all_.data() + from;
  }

  std::vector<std::int32_t> all_;
  std::size_t next_ = 0;
};

/// Copies numbers of 32 bits into the payload, one array after another.
template <class T>
void append(Bytes& payload, const std::vector<T>& numbers) {
  const std::size_t from = payload.size();
  payload.resize(from + numbers.size() * sizeof(T));
  std::memcpy(payload.data() + from, numbers.data(), numbers.size() * sizeof(T));
}

template <class T>
std::vector<T> room(Index count) {
  return std::vector<T>(static_cast<std::size_t>(count));
}

/// A model of either kind.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;
  virtual Json describe() const = 0;
  /// Answers one request; `payload` becomes that of the answer.
  virtual Json answer(const Json& request, Bytes& payload, Workspace& workspace) = 0;
};

/// What trainers of both kinds do.
template <class Trainer, class Batch>
class Trained : public Model {
 public:
  Json describe() const override {
    Json arrays = Json::array();
    for (Index i = 0; i < trainer_.array_count(); ++i) {
      const train::TrainedArray a = trainer_.array(i);
      Json shape = {a.value.extent(0)};
      if (a.value.rank == 2) {
        shape.push_back(a.value.extent(1));
      }
      arrays.push_back({{"name", a.name}, {"shape", shape}});
    }
    return {{"parameters", trainer_.parameter_count()}, {"arrays", arrays}, {"isa", active_isa()}};
  }

  Json answer(const Json& request, Bytes& payload, Workspace& workspace) override {
    const std::string op = request.at("op");
    if (op == "step" || op == "evaluate") {
      return learn(request, op == "step", payload, workspace);
    }
    if (op == "read" || op == "write") {
      return move_numbers(request, op == "read", payload);
    }
    if (op == "setSteps") {
      require(trainer_.set_steps(request.at("steps")));
      return Json::object();
    }
    return more(op, request, payload, workspace);
  }

 protected:
  virtual Batch batch_of(const Json& request, Numbers& numbers) = 0;
  /// What one kind alone can do.
  virtual Json more(const std::string& op, const Json& request, Bytes& payload,
                    Workspace& workspace) = 0;

  Trainer trainer_;

 private:
  Json learn(const Json& request, bool step, Bytes& payload, Workspace& workspace) {
    Numbers numbers(payload);
    const Batch batch = batch_of(request, numbers);
    numbers.finish();
    train::StepResult result;
    if (step) {
      require(trainer_.step(batch, workspace, result));
    } else {
      require(trainer_.evaluate(batch, workspace, result.before));
    }
    return {{"loss", result.before.loss},
            {"accuracy", result.before.accuracy},
            {"gradientNorm", result.gradient_norm},
            {"learningRate", result.learning_rate},
            {"step", result.step}};
  }

  Json move_numbers(const Json& request, bool read, Bytes& payload) {
    const Index i = request.at("array");
    if (i < 0 || i >= trainer_.array_count()) {
      throw Refused("there is no array " + std::to_string(i));
    }
    const train::TrainedArray a = trainer_.array(i);
    const train::Moments moments = trainer_.moments(i);
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
};

class LanguageModel : public Trained<train::LanguageModelTrainer, train::LanguageBatch> {
 public:
  explicit LanguageModel(const Json& request) {
    require(train::LanguageModelTrainer::create(language_model_config(request.at("config")),
                                                trainer_options(request.at("options")), trainer_));
  }

 protected:
  /// ids, targets, and lengths where there are any.
  train::LanguageBatch batch_of(const Json& request, Numbers& numbers) override {
    const Index rows = request.at("batch");
    const Index tokens = request.at("tokens");
    train::LanguageBatch batch;
    batch.tokens.ids = numbers.matrix(rows, tokens);
    batch.targets = numbers.matrix(rows, tokens);
    if (request.value("lengths", false)) {
      batch.tokens.key_lengths = numbers.vector(rows);
    }
    return batch;
  }

  /// Of ids: logits, then for each of "layers" the weights of its heads.
  Json more(const std::string& op, const Json& request, Bytes& payload,
            Workspace& workspace) override {
    if (op != "forward") {
      throw Refused("unknown op " + op);
    }
    Numbers given(payload);
    const LanguageModelConfig& c = trainer_.config();
    const Index rows = request.at("batch");
    const Index tokens = request.at("tokens");
    const std::vector<Index> layers = request.value("layers", std::vector<Index>());
    const Index of_logits = rows * tokens * c.vocabulary;
    const Index of_layer = rows * c.num_heads * tokens * tokens;
    auto numbers = room<float>(of_logits + static_cast<Index>(layers.size()) * of_layer);
    std::vector<train::LayerReading> readings;
    for (const Index layer : layers) {
      float* to = numbers.data() + of_logits + static_cast<Index>(readings.size()) * of_layer;
      readings.push_back({.layer = layer, .weights = {to, {rows, c.num_heads, tokens, tokens}}});
    }
    require(trainer_.forward({.ids = given.matrix(rows, tokens)},
                             {numbers.data(), {rows, tokens, c.vocabulary}}, readings, workspace));
    append(payload, numbers);
    return Json::object();
  }
};

class Translator : public Trained<train::Seq2SeqTrainer, train::Seq2SeqBatch> {
 public:
  explicit Translator(const Json& request) {
    require(train::Seq2SeqTrainer::create(seq2seq_config(request.at("config")),
                                          trainer_options(request.at("options")), trainer_));
  }

 protected:
  /// ids, targets, sources, and lengths of sources where there are any.
  train::Seq2SeqBatch batch_of(const Json& request, Numbers& numbers) override {
    const Index rows = request.at("batch");
    const Index tokens = request.at("tokens");
    train::Seq2SeqBatch batch;
    batch.tokens.ids = numbers.matrix(rows, tokens);
    batch.targets = numbers.matrix(rows, tokens);
    batch.tokens.source = numbers.matrix(rows, request.at("sources"));
    if (request.value("lengths", false)) {
      batch.tokens.source_lengths = numbers.vector(rows);
    }
    return batch;
  }

  Json more(const std::string& op, const Json& request, Bytes& payload,
            Workspace& workspace) override {
    Numbers given(payload);
    const Index rows = request.value("batch", Index{1});
    const Index sources = request.at("sources");
    if (op == "reach") {
      auto norms = room<float>(sources);
      require(trainer_.reach(given.vector(sources), {norms.data(), {sources}}, workspace));
      append(payload, norms);
      return Json::object();
    }
    if (op != "translate") {
      throw Refused("unknown op " + op);
    }
    const Index most = request.at("most");
    auto ids = room<std::int32_t>(rows * most);
    auto lengths = room<std::int32_t>(rows);
    require(trainer_.translate({.source = given.matrix(rows, sources),
                                .start = request.at("start"),
                                .end = request.at("end"),
                                .ids = {ids.data(), {rows, most}},
                                .lengths = {lengths.data(), {rows}}},
                               workspace));
    append(payload, ids);
    append(payload, lengths);
    return Json::object();
  }
};

class Program {
 public:
  Json answer(const Json& request, Bytes& payload) {
    if (request.at("op") == "create") {
      return create(request);
    }
    if (!model_) {
      throw Refused("there is no model yet");
    }
    return model_->answer(request, payload, *workspace_);
  }

 private:
  Json create(const Json& request) {
    const bool translates = request.value("model", std::string()) == "seq2seq";
    model_ = translates ? std::unique_ptr<Model>(std::make_unique<Translator>(request))
                        : std::make_unique<LanguageModel>(request);
    const unsigned threads = request.value("threads", 1U);
    threads_ = threads > 1 ? std::make_unique<Threads>(threads) : nullptr;
    workspace_ = std::make_unique<Workspace>(threads_ ? &threads_->pool() : nullptr);
    return model_->describe();
  }

  std::unique_ptr<Model> model_;
  std::unique_ptr<Threads> threads_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace
}  // namespace qkv::program

int main() {
  std::ios::sync_with_stdio(false);
  qkv::program::Program program;
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<char> payload;
    qkv::program::Json answer;
    try {
      const auto request = qkv::program::Json::parse(line);
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
