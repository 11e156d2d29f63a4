// Runs a language model from a file and times it. Reads one request, a line of JSON, and prints one answer:
//
//   { file, config, format, threads, prompt: [ids], decode: [ids], generate: n, arrays: [{ name, type, layout, offset, rows, rowBytes }] }
//   { isa, threads, bytes, loadSeconds, promptPerSecond, decodePerSecond, logits: [...], generated: [ids] }
//
// bench/models writes the requests: it has made the files and knows where the arrays are.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../models/trainer/requests.hpp"
#include "qkv/isa.hpp"
#include "qkv/language_model.hpp"
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

void fill(LanguageModel& model, const Json& array, std::ifstream& file) {
  const std::map<std::string, NumberType> types = {{"F32", NumberType::kF32},
                                                   {"F16", NumberType::kF16},
                                                   {"BF16", NumberType::kBf16},
                                                   {"Q8_0", NumberType::kQ8_0}};
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
  const std::map<std::string, WeightFormat> formats = {
      {"f32", WeightFormat::kF32}, {"bf16", WeightFormat::kBf16}, {"int8", WeightFormat::kInt8}};
  LanguageModel model;
  require(LanguageModel::create(language_model_config(request.at("config")),
                                formats.at(request.at("format")), model));
  std::ifstream file(request.at("file").get<std::string>(), std::ios::binary);
  for (const Json& array : request.at("arrays")) {
    fill(model, array, file);
  }
  require(model.finish());
  return model;
}

/// One forward pass of some tokens; the last row of logits.
void forward(const LanguageModel& model, const std::int32_t* ids, Index count,
             ModelSession& session, std::vector<float>& logits, Workspace& workspace) {
  require(model.forward({.ids = {ids, {1, count}},
                         .session = &session,
                         .logits = {logits.data(), {1, 1, model.config().vocabulary}}},
                        workspace));
}

/// Seconds of a prompt, and of the tokens after the first 16 of it, one by one; the best of `repeats` each.
Json measure(const LanguageModel& model, const Json& request, Workspace& workspace) {
  const auto prompt = request.at("prompt").get<std::vector<std::int32_t>>();
  const auto decode = request.at("decode").get<std::vector<std::int32_t>>();
  std::vector<float> logits(static_cast<std::size_t>(model.config().vocabulary));
  ModelSession session;
  require(ModelSession::create(model, {}, session));
  double prompt_seconds = 1e30;
  double decode_seconds = 1e30;
  for (int repeat = 0; repeat < request.value("repeats", 3); ++repeat) {
    require(session.truncate(0));
    double start = now();
    forward(model, prompt.data(), static_cast<Index>(prompt.size()), session, logits, workspace);
    prompt_seconds = std::min(prompt_seconds, now() - start);
    require(session.truncate(std::min<Index>(16, session.length())));
    start = now();
    for (const std::int32_t& id : decode) {
      forward(model, &id, 1, session, logits, workspace);
    }
    decode_seconds = std::min(decode_seconds, now() - start);
  }
  logits.resize(std::min<std::size_t>(logits.size(), 64));
  return {{"promptPerSecond", static_cast<double>(prompt.size()) / prompt_seconds},
          {"decodePerSecond", static_cast<double>(decode.size()) / decode_seconds},
          {"logits", logits}};
}

/// The most likely tokens after the prompt.
Json generate(const LanguageModel& model, const Json& request, Workspace& workspace) {
  auto ids = request.at("prompt").get<std::vector<std::int32_t>>();
  const std::size_t begin = ids.size();
  std::vector<float> logits(static_cast<std::size_t>(model.config().vocabulary));
  ModelSession session;
  require(ModelSession::create(model, {}, session));
  for (Index n = request.value("generate", Index{0}); n > 0; --n) {
    const Index known = session.length();
    forward(model, ids.data() + known, static_cast<Index>(ids.size()) - known, session, logits,
            workspace);
    SampledToken token;
    require(sample({.logits = {logits.data(), {model.config().vocabulary}}}, workspace, token));
    ids.push_back(token.id);
  }
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(begin));
  return ids;
}

Json answer(const Json& request) {
  const double start = now();
  const LanguageModel model = load(request);
  const double seconds = now() - start;
  const unsigned count = request.value("threads", 1U);
  const std::unique_ptr<Threads> threads = count > 1 ? std::make_unique<Threads>(count) : nullptr;
  Workspace workspace(threads ? &threads->pool() : nullptr);
  Json found = measure(model, request, workspace);
  found["generated"] = generate(model, request, workspace);
  found["isa"] = active_isa();
  found["threads"] = workspace.threads();
  found["bytes"] = model.bytes();
  found["loadSeconds"] = seconds;
  return found;
}

}  // namespace
}  // namespace qkv::program

int main() {
  std::string line;
  std::getline(std::cin, line);
  try {
    std::cout << qkv::program::answer(qkv::program::Json::parse(line)).dump() << '\n';
  } catch (const std::exception& error) {
    std::cout << qkv::program::Json{{"error", error.what()}}.dump() << '\n';
    return 1;
  }
}
