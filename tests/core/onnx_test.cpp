// The node tests of ONNX (opsets 23 and 24) for the operators that this library has, when they are at
// hand: a folder of JSON files, one test each, named by QKV_CONFORMANCE or ../shared/conformance/onnx
// beside the project. float32 within 2e-6, float16 within 1e-3, relative to values above 1.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "fixtures.hpp"

namespace qkv::test {
namespace {

/// Results by name, row-major.
using Outputs = std::map<std::string, std::vector<float>>;

std::vector<float> zeros(Index count) {
  return std::vector<float>(static_cast<std::size_t>(count));
}

/// An input, if the test has it.
std::optional<JsonArray> input(const Json& test, const char* name) {
  const Json& inputs = test.at("inputs");
  return inputs.contains(name) ? std::optional<JsonArray>(inputs.at(name)) : std::nullopt;
}

/// [B, H, T, d], or [B, T, H * d] seen so.
TensorView<const float> heads_of(const JsonArray& array, Index num_heads) {
  if (array.shape.size() == 4) {
    return array.view();
  }
  return split_heads<const float>(array.values.data(), array.shape[0], array.shape[1], num_heads,
                                  array.shape[2] / num_heads);
}

// --- Attention ---

/// ONNX lets a mask end before the keys do; what is missing is excluded.
JsonArray padded(JsonArray mask, Index tk) {
  const Index last = mask.shape.back();
  if (last == tk || last == 1) {
    return mask;
  }
  JsonArray wide = mask;
  wide.shape.back() = tk;
  const auto rows = static_cast<Index>(mask.exact.size()) / last;
  wide.exact.assign(static_cast<std::size_t>(rows * tk), mask.is_bool() ? 0.0 : -INFINITY);
  for (Index r = 0; r < rows; ++r) {
    std::copy_n(mask.exact.begin() + r * last, last, wide.exact.begin() + r * tk);
  }
  wide.values.assign(wide.exact.begin(), wide.exact.end());
  return wide;
}

/// Arrays of one Attention test, and the views of them that the call takes.
struct OnnxAttention {
  explicit OnnxAttention(const Json& test)
      : attributes(test.at("attributes")),
        q(*input(test, "Q")),
        k(*input(test, "K")),
        v(*input(test, "V")),
        past_key(input(test, "past_key")),
        past_value(input(test, "past_value")) {
    const bool apart = q.shape.size() == 4;
    const Index heads = apart ? q.shape[1] : attributes.at("q_num_heads").get<Index>();
    const Index kv_heads = apart ? k.shape[1] : attributes.at("kv_num_heads").get<Index>();
    args.q = heads_of(q, heads);
    args.k = heads_of(k, kv_heads);
    args.v = heads_of(v, kv_heads);
    tk = args.k.extent(2);
    out = zeros(args.q.extent(0) * heads * args.q.extent(2) * args.v.extent(3));
    args.out = apart ? TensorView<float>(out.data(),
                                         {q.shape[0], heads, args.q.extent(2), args.v.extent(3)})
                     : split_heads(out.data(), q.shape[0], q.shape[1], heads, args.v.extent(3));
    fill_cache();
    read_options(test);
    read_extras(test);
  }
  OnnxAttention(const OnnxAttention&) = delete;
  OnnxAttention& operator=(const OnnxAttention&) = delete;

  Outputs run() {
    Workspace workspace;
    require_ok(attention(args, workspace));
    Outputs outputs{{"Y", out}, {"qk_matmul_output", matmul}};
    if (args.cache) {
      std::vector<float>& keys = outputs["present_key"];
      std::vector<float>& values = outputs["present_value"];
      const Index batch = args.k.extent(0);
      const Index heads = args.k.extent(1);
      keys = zeros(batch * heads * tk * args.k.extent(3));
      values = zeros(batch * heads * tk * args.v.extent(3));
      require_ok(cache.read_keys({keys.data(), {batch, heads, tk, args.k.extent(3)}}));
      require_ok(cache.read_values({values.data(), {batch, heads, tk, args.v.extent(3)}}));
    }
    return outputs;
  }

  Json attributes;
  JsonArray q, k, v;
  std::optional<JsonArray> past_key, past_value;
  std::vector<std::uint8_t> mask;
  std::vector<float> additive, out, matmul;
  std::vector<std::int32_t> lengths, offsets;
  KvCache cache;
  AttentionArgs args;
  Index tk = 0;  ///< keys that the queries see

 private:
  void fill_cache() {
    if (!past_key) {
      return;
    }
    tk += past_key->shape[2];
    require_ok(KvCache::create({.batch = args.k.extent(0),
                                .num_kv_heads = args.k.extent(1),
                                .capacity = tk,
                                .d_k = args.k.extent(3),
                                .d_v = args.v.extent(3)},
                               cache));
    require_ok(cache.append(past_key->view(), past_value->view()));
    args.cache = &cache;
  }

  void read_options(const Json& test) {
    AttentionOptions& options = args.options;
    if (attributes.contains("scale")) {
      options.scale = attributes.at("scale").get<float>();
    }
    options.softcap = attributes.value("softcap", 0.0F);
    if (const auto given = input(test, "attn_mask")) {
      const JsonArray array = padded(*given, tk);
      mask = array.bytes();
      additive = array.values;
      if (array.is_bool()) {
        options.mask = view_of<const std::uint8_t>(mask.data(), array.shape);
      } else {
        options.additive_mask = view_of<const float>(additive.data(), array.shape);
      }
    }
    if (const auto given = input(test, "nonpad_kv_seqlen")) {
      lengths = given->integers();
      options.key_lengths = {lengths.data(), {args.q.extent(0)}};
    }
    options.causal = attributes.value("is_causal", 0) == 1;
    if (options.causal && !lengths.empty()) {  // the last query is the last token in use
      for (std::int32_t length : lengths) {
        offsets.push_back(length - static_cast<std::int32_t>(args.q.extent(2)));
      }
      options.causal_offsets = {offsets.data(), {args.q.extent(0)}};
    } else if (options.causal && !args.cache) {
      options.causal_offset = 0;
    }
  }

  void read_extras(const Json& test) {
    if (!test.at("outputs").contains("qk_matmul_output")) {
      return;
    }
    const Index batch = args.q.extent(0);
    const Index heads = args.q.extent(1);
    matmul = zeros(batch * heads * args.q.extent(2) * tk);
    const TensorView<float> view(matmul.data(), {batch, heads, args.q.extent(2), tk});
    const int mode = attributes.value("qk_matmul_output_mode", 0);
    (mode == 3 ? args.extras.weights : args.extras.logits) = view;
    constexpr LogitStage kStages[] = {LogitStage::kRaw, LogitStage::kCapped, LogitStage::kBiased};
    args.extras.logit_stage = kStages[std::min(mode, 2)];
  }
};

// --- The other operators ---

Outputs run_norm(const Json& test) {
  const Json& attributes = test.at("attributes");
  const bool layer = test.at("op") == "LayerNormalization";
  const JsonArray x = *input(test, "X");
  const JsonArray gamma = *input(test, "W");
  const auto beta = input(test, "B");
  NormOptions options;
  options.gamma = gamma.view();
  options.beta = beta ? beta->view() : TensorView<const float>();
  options.axis = attributes.value("axis", -1);
  options.epsilon = attributes.value("epsilon", 1e-5F);
  std::vector<float> y(x.values.size());
  const TensorView<float> out = view_of(y.data(), x.shape);
  require_ok(layer ? layer_norm(x.view(), out, options) : rms_norm(x.view(), out, options));
  return {{"Y", y}};
}

Outputs run_rotary(const Json& test) {
  const Json& attributes = test.at("attributes");
  const JsonArray x = *input(test, "input");
  const JsonArray cos = *input(test, "cos_cache");
  const JsonArray sin = *input(test, "sin_cache");
  const auto ids = input(test, "position_ids");
  const std::vector<std::int32_t> positions = ids ? ids->integers() : std::vector<std::int32_t>();
  RotaryOptions options;
  options.cos = cos.view();
  options.sin = sin.view();
  options.interleaved = attributes.value("interleaved", 0) == 1;
  options.rotary_dim = attributes.value("rotary_embedding_dim", Index{0});
  if (ids) {
    options.positions = view_of<const std::int32_t>(positions.data(), ids->shape);
  }
  const TensorView<const float> from = heads_of(x, attributes.value("num_heads", Index{0}));
  std::vector<float> output(x.values.size());
  TensorView<float> to(output.data(), {1});
  to.rank = from.rank;
  to.shape = from.shape;
  to.strides = from.strides;
  Workspace workspace;
  require_ok(rotary_embedding(from, to, options, workspace));
  return {{"output", output}};
}

Outputs run_gelu(const Json& test) {
  const JsonArray x = *input(test, "x");
  const bool tanh = test.at("attributes").value("approximate", "none") == "tanh";
  std::vector<float> y(x.values.size());
  require_ok(activate(x.view(), view_of(y.data(), x.shape),
                      tanh ? Activation::kGeluTanh : Activation::kGelu));
  return {{"y", y}};
}

Outputs run_test(const Json& test) {
  const auto op = test.at("op").get<std::string>();
  if (op == "Attention") {
    return OnnxAttention(test).run();
  }
  if (op == "LayerNormalization" || op == "RMSNormalization") {
    return run_norm(test);
  }
  if (op == "RotaryEmbedding") {
    return run_rotary(test);
  }
  if (op == "Gelu") {
    return run_gelu(test);
  }
  FAIL("no operator " << op);
  return {};
}

void check_output(const std::string& name, const std::vector<float>& got, const Json& expected) {
  const JsonArray exact(expected);
  const double bound = exact.dtype == "f16" ? 1e-3 : 2e-6;
  INFO(name);
  REQUIRE(got.size() == exact.exact.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double computed = got[i];
    const double value = exact.exact[i];
    const bool same = computed == value || (std::isnan(computed) && std::isnan(value));
    const double size = std::max(1.0, std::abs(value));
    if (!same && !(std::abs(computed - value) <= bound * size)) {
      FAIL_CHECK(name << "[" << i << "] is " << computed << ", expected " << value);
    }
  }
}

std::filesystem::path folder() {
  const char* named = std::getenv("QKV_CONFORMANCE");
  return named ? named : QKV_PROJECT_DIR "/../shared/conformance/onnx";
}

TEST_CASE("onnx: node tests", "[onnx]") {
  if (!std::filesystem::is_directory(folder())) {
    SKIP("SKIPPED: no ONNX node tests at " << folder() << "; name their folder in QKV_CONFORMANCE");
  }
  int tests = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    std::ifstream stream(entry.path());
    const Json test = Json::parse(stream);
    INFO(test.at("name"));
    const Outputs got = run_test(test);
    for (const auto& [name, expected] : test.at("outputs").items()) {
      // Mean and InvStdDev of a layer norm are there for its gradient, which this library has not.
      if (name != "Mean" && name != "InvStdDev") {
        REQUIRE(got.count(name) == 1);
        check_output(name, got.at(name), expected);
      }
    }
    ++tests;
  }
  CHECK(tests > 0);
}

}  // namespace
}  // namespace qkv::test
