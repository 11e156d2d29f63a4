// Goes on with tokens, by a language model from a GGUF file of Llama (3.1 and later too), Mistral, Qwen 2 or Qwen 3:
//
//   generate FILE COUNT ID...
//
// The library has no tokenizers: COUNT tokens that follow the given ones are printed as numbers, each the most likely one, up to the token
// that ends a text. What the file has and this program does not know is refused by its name.
#include <qkv/qkv.hpp>
#include <qkv/threads.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gguf.hpp"

namespace {

void check(const qkv::Status& status) {
  if (!status.ok()) {
    throw gguf::Problem(status.message());
  }
}

/// A size of the metadata.
qkv::Index size_of(const gguf::File& file, const std::string& name) {
  const double size = file.number_of(name);
  if (!(size >= 1 && size < 2147483648.0)) {
    throw gguf::Problem(name + " is " + std::to_string(size));
  }
  return static_cast<qkv::Index>(size);
}
qkv::Index size_of(const gguf::File& file, const std::string& name, qkv::Index fallback) {
  return file.numbers().contains(name) ? size_of(file, name) : fallback;
}

/// Everything that the metadata says of the model below its architecture is obeyed, or says nothing.
void refuse_unknown(const gguf::File& file, const std::string& architecture) {
  const std::set<std::string> known = {"block_count",
                                       "context_length",
                                       "embedding_length",
                                       "feed_forward_length",
                                       "attention.head_count",
                                       "attention.head_count_kv",
                                       "attention.key_length",
                                       "attention.value_length",
                                       "attention.layer_norm_rms_epsilon",
                                       "attention.sliding_window",
                                       "rope.freq_base",
                                       "rope.dimension_count",
                                       "vocab_size"};
  const std::string prefix = architecture + ".";
  const auto refuse = [&](const std::string& name) {
    if (name.starts_with(prefix) && !known.contains(name.substr(prefix.size()))) {
      throw gguf::Problem(name + " is not known to this program");
    }
  };
  for (const auto& [name, number] : file.numbers()) {
    if (number != 0) {
      refuse(name);
    }
  }
  for (const auto& [name, text] : file.texts()) {
    if (text != "none") {
      refuse(name);
    }
  }
}

/// The array in which Llama 3.1 and later have what the frequency of each pair is divided by.
constexpr const char* kRopeFactors = "rope_freqs.weight";

/// Those divisors; none where the file has no such array.
std::vector<float> rope_factors_of(gguf::File& file, qkv::Index pairs) {
  const auto found = file.tensors().find(kRopeFactors);
  if (found == file.tensors().end()) {
    return {};
  }
  const gguf::Type* type = gguf::type_of(found->second);
  if (!type || type->name != qkv::NumberType::kF32 ||
      found->second.extent != std::vector{static_cast<std::uint64_t>(pairs)}) {
    throw gguf::Problem(std::string(kRopeFactors) + " is not [" + std::to_string(pairs) +
                        "] of F32, one number for each pair of rope.dimension_count");
  }
  const std::vector<char> bytes = file.bytes_of(kRopeFactors);
  std::vector<float> factors(static_cast<std::size_t>(pairs));
  std::memcpy(factors.data(), bytes.data(), bytes.size());
  return factors;
}

qkv::LanguageModelConfig config_of(const gguf::File& file) {
  const auto found = file.texts().find("general.architecture");
  const std::string of = found == file.texts().end() ? "" : found->second;
  if (of != "llama" && of != "qwen2" && of != "qwen3") {
    throw gguf::Problem("general.architecture is '" + of + "', expected llama, qwen2 or qwen3");
  }
  refuse_unknown(file, of);
  const auto embedding = file.tensors().find("token_embd.weight");
  if (embedding == file.tensors().end() || embedding->second.extent.size() != 2) {
    throw gguf::Problem("the file has no token_embd.weight");
  }
  qkv::LanguageModelConfig config;
  config.vocabulary = static_cast<qkv::Index>(embedding->second.extent[1]);
  config.num_layers = size_of(file, of + ".block_count");
  config.d_model = size_of(file, of + ".embedding_length");
  config.d_feed_forward = size_of(file, of + ".feed_forward_length");
  config.max_length = size_of(file, of + ".context_length");
  config.num_heads = size_of(file, of + ".attention.head_count");
  config.num_kv_heads = size_of(file, of + ".attention.head_count_kv", config.num_heads);
  config.d_k = size_of(file, of + ".attention.key_length", config.d_model / config.num_heads);
  if (size_of(file, of + ".attention.value_length", config.d_k) != config.d_k) {
    throw gguf::Problem(of + ".attention.value_length is another than that of keys");
  }
  config.norm_type = qkv::NormType::kRms;
  config.epsilon = static_cast<float>(file.number_of(of + ".attention.layer_norm_rms_epsilon"));
  config.activation = qkv::ModelActivation::kSwiglu;
  config.positions = qkv::ModelPositions::kRotary;
  config.rotary.base = file.number_of(of + ".rope.freq_base", 10000);
  config.rotary.rotary_dim = size_of(file, of + ".rope.dimension_count", config.d_k);
  // Those who make the files put the pairs that are turned side by side, for Llama alone.
  config.rotary.interleaved = of == "llama";
  // The width of a window in the file has the token itself in it.
  const std::string window = of + ".attention.sliding_window";
  config.window = file.number_of(window, 0) == 0 ? -1 : size_of(file, window) - 1;
  config.qkv_biases = of == "qwen2";
  config.qk_norm = of == "qwen3";
  config.tied_embeddings = !file.tensors().contains("output.weight");
  return config;
}

/// What GGUF calls an array of the library.
std::string name_in_file(const std::string& name) {
  static const std::array<std::pair<const char*, const char*>, 17> kNames = {{
      {"embedding", "token_embd.weight"},
      {"norm.gamma", "output_norm.weight"},
      {"head", "output.weight"},
      {"norm1.gamma", "attn_norm.weight"},
      {"attention.wq", "attn_q.weight"},
      {"attention.wk", "attn_k.weight"},
      {"attention.wv", "attn_v.weight"},
      {"attention.bq", "attn_q.bias"},
      {"attention.bk", "attn_k.bias"},
      {"attention.bv", "attn_v.bias"},
      {"attention.qGamma", "attn_q_norm.weight"},
      {"attention.kGamma", "attn_k_norm.weight"},
      {"attention.wo", "attn_output.weight"},
      {"norm2.gamma", "ffn_norm.weight"},
      {"feedForward.w1", "ffn_up.weight"},
      {"feedForward.wGate", "ffn_gate.weight"},
      {"feedForward.w2", "ffn_down.weight"},
  }};
  const std::string layers = "layers.";
  const bool is_of_layer = name.starts_with(layers);
  const std::size_t dot = is_of_layer ? name.find('.', layers.size()) : std::string::npos;
  const std::string own = is_of_layer ? name.substr(dot + 1) : name;
  for (const auto& [here, there] : kNames) {
    if (own == here) {
      return is_of_layer ? "blk." + name.substr(layers.size(), dot - layers.size()) + "." + there
                         : there;
    }
  }
  throw gguf::Problem("no file has " + name);
}

/// The array of the file for one of the model.
const gguf::Tensor& tensor_for(const gguf::File& file, const char* array) {
  const std::string name = name_in_file(array);
  const auto found = file.tensors().find(name);
  if (found == file.tensors().end()) {
    throw gguf::Problem("the file has no " + name);
  }
  return found->second;
}

/// What keeps numbers as they lie in the file, or else what comes nearest.
qkv::WeightFormat format_of(const gguf::Tensor& tensor) {
  const gguf::Type* type = gguf::type_of(tensor);
  switch (type ? type->name : qkv::NumberType::kF32) {
    case qkv::NumberType::kF32:
      return qkv::WeightFormat::kF32;
    case qkv::NumberType::kF16:
      return qkv::WeightFormat::kF16;
    case qkv::NumberType::kBf16:
      return qkv::WeightFormat::kBf16;
    case qkv::NumberType::kQ4_0:
    case qkv::NumberType::kQ4_1:
    case qkv::NumberType::kQ4K:
      return qkv::WeightFormat::kInt4;
    default:
      return qkv::WeightFormat::kInt8;
  }
}

/// Gives an array of the model its numbers.
void fill(gguf::File& file, qkv::LanguageModel& model, qkv::Index i) {
  const qkv::ModelArray array = model.array(i);
  const std::string name = name_in_file(array.name);
  const gguf::Tensor& tensor = tensor_for(file, array.name);
  const bool is_map = array.rank == 2 && name != "token_embd.weight";
  // A map lies there with the inputs of an output in a row; a table has rows here and there.
  const auto columns = static_cast<std::uint64_t>(array.shape[is_map || array.rank == 1 ? 0 : 1]);
  const auto rows = static_cast<std::uint64_t>(array.rank == 1 ? 1 : array.shape[is_map ? 1 : 0]);
  const std::uint64_t there = tensor.extent.size() > 1 ? tensor.extent[1] : 1;
  if (tensor.extent.size() > 2 || tensor.extent[0] != columns || there != rows) {
    throw gguf::Problem(name + " has another shape than [" + std::to_string(rows) + "," +
                        std::to_string(columns) + "], as the metadata says");
  }
  const std::vector<char> bytes = file.bytes_of(name);
  check(model.fill(i, {.type = gguf::type_of(tensor)->name,
                       .data = bytes.data(),
                       .count = static_cast<qkv::Index>(rows),
                       .row_bytes = static_cast<qkv::Index>(bytes.size() / rows),
                       .layout = is_map ? qkv::WeightLayout::kOutIn : qkv::WeightLayout::kInOut}));
}

qkv::LanguageModel load(gguf::File& file) {
  qkv::LanguageModelConfig config = config_of(file);
  const std::vector<float> factors = rope_factors_of(file, config.rotary.rotary_dim / 2);
  if (!factors.empty()) {
    config.rotary.scaling = {.type = qkv::RotaryScaling::Type::kFactors,
                             .factors = {factors.data(), {config.rotary.rotary_dim / 2}}};
  }
  qkv::LanguageModel model;
  // The first says which arrays there are.
  check(qkv::LanguageModel::create(config, qkv::WeightFormat::kInt4, model));
  std::vector<qkv::WeightFormat> formats;
  for (qkv::Index i = 0; i < model.array_count(); ++i) {
    formats.push_back(format_of(tensor_for(file, model.array(i).name)));
  }
  model = {};
  check(qkv::LanguageModel::create(config, qkv::WeightFormat::kInt8, model, formats));
  std::set<std::string> used;
  for (qkv::Index i = 0; i < model.array_count(); ++i) {
    fill(file, model, i);
    used.insert(name_in_file(model.array(i).name));
  }
  for (const auto& [name, tensor] : file.tensors()) {
    if (!used.contains(name) && name != kRopeFactors) {
      throw gguf::Problem("the file has " + name + ", which this program does not know");
    }
  }
  check(model.finish());
  return model;
}

/// Prints tokens, each as soon as it is known.
void generate(const qkv::LanguageModel& model, std::vector<std::int32_t> ids, int count, int end) {
  qkv::Threads threads(static_cast<int>(std::thread::hardware_concurrency()));
  qkv::Workspace workspace(&threads.pool());
  qkv::ModelSession session;
  check(qkv::ModelSession::create(model, {}, session));
  const qkv::Index vocabulary = model.config().vocabulary;
  std::vector<float> logits(static_cast<std::size_t>(vocabulary));
  for (int i = 0; i < count; ++i) {
    check(model.forward({.ids = {ids.data(), {1, static_cast<qkv::Index>(ids.size())}},
                         .session = &session,
                         .logits = {logits.data(), {1, 1, vocabulary}}},
                        workspace));
    qkv::SampledToken token;
    check(qkv::sample({.logits = {logits.data(), {vocabulary}}}, workspace, token));
    std::printf("%s%d", i > 0 ? " " : "", static_cast<int>(token.id));
    std::fflush(stdout);
    if (token.id == end) {
      break;
    }
    ids = {token.id};
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: generate FILE COUNT ID...\n");
    return 2;
  }
  try {
    gguf::File file(argv[1]);
    const qkv::LanguageModel model = load(file);
    std::vector<std::int32_t> ids;
    for (int i = 3; i < argc; ++i) {
      ids.push_back(std::atoi(argv[i]));
    }
    const double end = file.number_of("tokenizer.ggml.eos_token_id", -1);
    generate(model, std::move(ids), std::atoi(argv[2]), static_cast<int>(end));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
  return 0;
}
