// Runs a language model from a file and times it, as bench/models tells it. The first line that it reads says where the
// weights are, in JSON:
//
//   { file, config, threads, arrays: [{ name, type, format, layout, offset, rows, rowBytes }] }
//
// where `type` is that of the file and `format` what a matrix is kept in,
// and the answer is { isa, threads, bytes, loadSeconds }. Each line after it is one of these, with token ids in decimal:
//
//   prompt <ids>     forgets what was read and reads these in one pass; { ms, next, logits } of the last
//   extend <ids>     reads these in one pass after what was read; the same answer
//   keep <n>         forgets all but the first n tokens
//   decode <ids>     reads these one after the other
//   generate <n>     the n most likely tokens that follow: { ms, ids }
//   pass <ids>       one pass, up to the logits of the last token, without a cache; { ms, logits }
//   sweep <ids> <ids>   of the first prompt the stream after every layer at every token, put into the second one; { ms }
//   attribute <ids>  what every head gives to the difference of two logits; { ms }
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "../models/trainer/requests.hpp"
#include "qkv/isa.hpp"
#include "qkv/language_model.hpp"
#include "qkv/model_sites.hpp"
#include "qkv/sampling.hpp"
#include "qkv/threads.hpp"

namespace qkv::program {
namespace {

/// Rows that are read at a time: a multiple of 32, as int8 asks for.
constexpr Index kRows = 64;

double now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

/// The format of each array of the model, by what the request says of its name; those that it does not name stay float32.
std::vector<WeightFormat> formats_of(const LanguageModel& model, const Json& arrays) {
  const std::map<std::string, WeightFormat> formats = {
      {"f32", WeightFormat::kF32},   {"f16", WeightFormat::kF16},   {"bf16", WeightFormat::kBf16},
      {"int8", WeightFormat::kInt8}, {"int4", WeightFormat::kInt4}, {"q4_k", WeightFormat::kQ4K}};
  std::map<std::string, WeightFormat> named;
  for (const Json& array : arrays) {
    named[array.at("name")] = formats.at(array.at("format"));
  }
  std::vector<WeightFormat> list;
  for (Index i = 0; i < model.array_count(); ++i) {
    const auto found = named.find(model.array(i).name);
    list.push_back(found == named.end() ? WeightFormat::kF32 : found->second);
  }
  return list;
}

void fill(LanguageModel& model, const Json& array, std::ifstream& file) {
  const std::map<std::string, NumberType> types = {
      {"F32", NumberType::kF32},   {"F16", NumberType::kF16},   {"BF16", NumberType::kBf16},
      {"Q8_0", NumberType::kQ8_0}, {"Q4_0", NumberType::kQ4_0}, {"Q5_0", NumberType::kQ5_0},
      {"Q4_K", NumberType::kQ4K},  {"Q6_K", NumberType::kQ6K}};
  Index i = 0;
  while (i < model.array_count() && array.at("name") != model.array(i).name) {
    ++i;
  }
  const Index rows = array.at("rows");
  const Index row_bytes = array.at("rowBytes");
  std::vector<char> bytes(static_cast<std::size_t>(kRows * row_bytes));
  file.seekg(array.at("offset").get<std::streamoff>());
  for (Index first = 0; first < rows; first += kRows) {
    const Index count = std::min(kRows, rows - first);
    file.read(bytes.data(), static_cast<std::streamsize>(count * row_bytes));
    require(model.fill(i, {.type = types.at(array.at("type")),
                           .data = bytes.data(),
                           .count = count,
                           .row_bytes = row_bytes,
                           .layout = array.at("layout") == "out_in" ? WeightLayout::kOutIn
                                                                    : WeightLayout::kInOut}));
  }
}

LanguageModel load(const Json& request) {
  const LanguageModelConfig config = language_model_config(request.at("config"));
  // The names of arrays come from a model, so one is made for them.
  LanguageModel names;
  require(LanguageModel::create(config, WeightFormat::kInt4, names));
  const auto formats = formats_of(names, request.at("arrays"));
  names = LanguageModel();
  LanguageModel model;
  require(LanguageModel::create(config, WeightFormat::kF32, model, formats));
  std::ifstream file(request.at("file").get<std::string>(), std::ios::binary);
  for (const Json& array : request.at("arrays")) {
    fill(model, array, file);
  }
  require(model.finish());
  return model;
}

/// A model, and what was read so far.
class Conversation {
 public:
  explicit Conversation(const Json& request)
      : threads_(request.value("threads", 1U) > 1
                     ? std::make_unique<Threads>(request.at("threads").get<unsigned>())
                     : nullptr),
        workspace_(threads_ ? &threads_->pool() : nullptr) {
    const double start = now();
    model_ = load(request);
    seconds_ = now() - start;
    logits_.resize(static_cast<std::size_t>(model_.config().vocabulary));
    require(ModelSession::create(model_, {}, session_));
  }

  [[nodiscard]] Json describe() const {
    return {{"isa", active_isa()},
            {"threads", workspace_.threads()},
            {"bytes", model_.bytes()},
            {"loadSeconds", seconds_}};
  }

  Json answer(const std::string& what, const std::vector<std::int32_t>& numbers) {
    const double start = now();
    std::vector<std::int32_t> made;
    if (what == "prompt") {
      require(session_.truncate(0));
      read(numbers.data(), static_cast<Index>(numbers.size()));
    } else if (what == "extend") {
      read(numbers.data(), static_cast<Index>(numbers.size()));
    } else if (what == "keep") {
      require(session_.truncate(numbers.at(0)));
    } else if (what == "pass") {
      pass(numbers, 1, {}, {}, {});
    } else if (what == "sweep") {
      const auto half = static_cast<std::ptrdiff_t>(numbers.size() / 2);
      sweep({numbers.begin(), numbers.begin() + half}, {numbers.begin() + half, numbers.end()});
    } else if (what == "attribute") {
      attribute(numbers);
    } else if (what == "decode") {
      for (const std::int32_t& id : numbers) {
        read(&id, 1);
      }
    } else {
      for (std::int32_t n = 0; n < numbers.at(0); ++n) {
        made.push_back(next());
        read(&made.back(), 1);
      }
    }
    const double ms = 1000.0 * (now() - start);
    if (what == "sweep") {
      return {{"ms", ms}, {"differences", found_}};
    }
    return {{"ms", ms}, {"next", next()}, {"logits", logits_}, {"ids", made}};
  }

 private:
  void read(const std::int32_t* ids, Index count) {
    require(model_.forward({.ids = {ids, {1, count}},
                            .session = &session_,
                            .logits = {logits_.data(), {1, 1, model_.config().vocabulary}}},
                           workspace_));
  }

  using Ids = std::vector<std::int32_t>;

  /// A pass over rows of these tokens without a session, up to the logits of the last one of each.
  void pass(const Ids& ids, Index batch, std::span<const ModelReading> readings,
            std::span<const ModelEdit> edits, const ModelBegin& begin) {
    const auto length = static_cast<Index>(ids.size());
    rows_.clear();
    for (Index b = 0; b < batch; ++b) {
      rows_.insert(rows_.end(), ids.begin(), ids.end());
    }
    const Index vocabulary = model_.config().vocabulary;
    logits_.resize(static_cast<std::size_t>(batch * vocabulary));
    require(model_.forward({.ids = {rows_.data(), {batch, length}},
                            .logits = {logits_.data(), {batch, 1, vocabulary}},
                            .readings = readings,
                            .edits = edits,
                            .begin = begin},
                           workspace_));
  }

  /// The streams after all layers, one after another: [layers, T, d_model].
  std::vector<float> streams_of(const Ids& ids) {
    const auto [layers, width] = std::pair(model_.config().num_layers, model_.config().d_model);
    const auto length = static_cast<Index>(ids.size());
    std::vector<float> streams(static_cast<std::size_t>(layers * length * width));
    std::vector<ModelReading> readings;
    for (Index layer = 0; layer < layers; ++layer) {
      readings.push_back({.site = ModelSite::kResidual,
                          .layer = layer,
                          .to = {streams.data() + layer * length * width, {1, length, width}}});
    }
    pass(ids, 1, readings, {}, {});
    return streams;
  }

  /// What restores the stream of `clean` in `corrupt`, after every layer at every token: a batch for each layer, which begins after it. It
  /// answers with the difference of the first two logits of each.
  void sweep(const Ids& clean, const Ids& corrupt) {
    const auto [layers, width] = std::pair(model_.config().num_layers, model_.config().d_model);
    const auto length = static_cast<Index>(clean.size());
    const Index size = length * width;
    const std::vector<float> from = streams_of(clean);
    const std::vector<float> to = streams_of(corrupt);
    std::vector<float> batch(static_cast<std::size_t>(length * size));
    found_.clear();
    for (Index layer = 0; layer < layers; ++layer) {
      const bool is_last = layer + 1 == layers;
      // Nothing is computed after the last layer but the norm and the head, so its patches are edits of it.
      const float* stream = to.data() + (is_last ? layer - 1 : layer) * size;
      const float* patch = from.data() + layer * size;
      std::vector<ModelEdit> edits;
      for (Index token = 0; token < length; ++token) {
        float* row = std::copy_n(stream, size, batch.data() + token * size) - size;
        if (!is_last) {
          std::copy_n(patch + token * width, width, row + token * width);
          continue;
        }
        edits.push_back({.site = ModelSite::kResidual,
                         .layer = layer,
                         .batch = {token, token + 1},
                         .rows = {token, token + 1},
                         .value = {patch + token * width, {1, 1, width}}});
      }
      const ModelBegin begin = {.stream = {batch.data(), {length, length, width}},
                                .layer = is_last ? layer : layer + 1};
      pass(corrupt, length, {}, edits, begin);
      for (Index token = 0; token < length; ++token) {
        const float* logits = logits_.data() + token * model_.config().vocabulary;
        found_.push_back(logits[0] - logits[1]);
      }
    }
  }

  void attribute(const Ids& ids) {
    const auto [layers, heads] = std::pair(model_.config().num_layers, model_.config().num_heads);
    std::vector<double> parts(static_cast<std::size_t>(layers * (heads + 3)));
    std::vector<double> rest(3);
    require(model_.attribute({.pass = {.ids = {ids.data(), {1, static_cast<Index>(ids.size())}}},
                              .answer = 0,
                              .instead = 1,
                              .parts = {parts.data(), {layers, heads + 3}},
                              .rest = {rest.data(), {3}}},
                             workspace_));
  }

  std::int32_t next() {
    SampledToken token;
    require(sample({.logits = {logits_.data(), {model_.config().vocabulary}}}, workspace_, token));
    return token.id;
  }

  std::unique_ptr<Threads> threads_;
  Workspace workspace_;
  LanguageModel model_;
  ModelSession session_;
  std::vector<float> logits_;
  std::vector<std::int32_t> rows_;  // of a pass without a session
  std::vector<float> found_;        // by a sweep
  double seconds_ = 0.0;
};

void converse() {
  std::string line;
  std::getline(std::cin, line);
  Conversation conversation(Json::parse(line));
  std::cout << conversation.describe().dump() << std::endl;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    std::vector<std::int32_t> numbers;
    for (std::int32_t number = 0; words >> number;) {
      numbers.push_back(number);
    }
    std::cout << conversation.answer(what, numbers).dump() << std::endl;
  }
}

}  // namespace
}  // namespace qkv::program

int main() {
  try {
    qkv::program::converse();
  } catch (const std::exception& error) {
    std::cout << qkv::program::Json{{"error", error.what()}}.dump() << std::endl;
    return 1;
  }
}
