#include "onnx_example.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "problem.hpp"

namespace qkv::test {
namespace {

std::vector<float> zeros(Index count) {
  return std::vector<float>(static_cast<std::size_t>(count));
}

/// An input that the test must have.
JsonArray needed(const Json& test, const char* name) {
  return JsonArray(test.at("inputs").at(name));
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
  if (last >= tk || last == 1) {
    return mask;
  }
  JsonArray wide = mask;
  wide.shape.back() = tk;
  const auto rows = static_cast<Index>(mask.exact.size()) / last;
  wide.exact.assign(static_cast<std::size_t>(rows * tk), mask.is_bool() ? 0.0 : -HUGE_VAL);
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
        q(needed(test, "Q")),
        k(needed(test, "K")),
        v(needed(test, "V")),
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

  Status run(Outputs& outputs) {
    Workspace workspace;
    QKV_RETURN_IF_ERROR(attention(args, workspace));
    outputs = {{"Y", out}, {"qk_matmul_output", matmul}};
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
    return {};
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
    if (!past_key || !past_value) {
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
    read_positions();
  }

  void read_positions() {
    AttentionOptions& options = args.options;
    options.causal = attributes.value("is_causal", 0) == 1;
    options.window_left = attributes.value("left_window_size", Index{-1});
    options.window_right = attributes.value("right_window_size", Index{-1});
    if (!options.causal && options.window_left == -1 && options.window_right == -1) {
      return;
    }
    if (!lengths.empty()) {  // the last query is the last token in use
      for (std::int32_t length : lengths) {
        offsets.push_back(length - static_cast<std::int32_t>(args.q.extent(2)));
      }
      options.causal_offsets = {offsets.data(), {args.q.extent(0)}};
    } else if (!args.cache) {
      options.causal_offset = 0;
    }
  }

  void read_extras(const Json& test) {
    if (!test.contains("outputs") || !test.at("outputs").contains("qk_matmul_output")) {
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

/// A factor or term of a norm on all normalised elements, where ONNX lets it broadcast.
JsonArray spread(const JsonArray& array, const std::vector<Index>& extents) {
  Index n = 1;
  for (Index extent : extents) {
    n *= extent;
  }
  JsonArray wide = array;
  wide.shape = extents;
  wide.values.clear();
  for (Index i = 0; i < n; ++i) {
    Index index = 0;
    Index stride = 1;
    Index rest = i;
    for (std::size_t back = 1; back <= array.shape.size(); ++back) {
      const Index extent = extents[extents.size() - back];
      const Index own = array.shape[array.shape.size() - back];
      index += own == 1 ? 0 : rest % extent * stride;
      stride *= own;
      rest /= extent;
    }
    wide.values.push_back(array.values[static_cast<std::size_t>(index)]);
  }
  return wide;
}

Status run_norm(const Json& test, Outputs& outputs) {
  const Json& attributes = test.at("attributes");
  const bool layer = test.at("op") == "LayerNormalization";
  const JsonArray x = needed(test, "X");
  NormOptions options;
  options.axis = attributes.value("axis", options.axis);
  options.epsilon = attributes.value("epsilon", options.epsilon);
  const auto first =
      options.axis < 0 ? x.shape.end() + options.axis : x.shape.begin() + options.axis;
  const std::vector<Index> extents(first, x.shape.end());
  const JsonArray gamma = spread(needed(test, "W"), extents);
  options.gamma = gamma.view();
  std::optional<JsonArray> beta = input(test, "B");
  if (beta) {
    beta = spread(*beta, extents);
    options.beta = beta->view();
  }
  std::vector<float> y(x.values.size());
  const TensorView<float> out = view_of(y.data(), x.shape);
  QKV_RETURN_IF_ERROR(layer ? layer_norm(x.view(), out, options)
                            : rms_norm(x.view(), out, options));
  outputs = {{"Y", y}};
  return {};
}

Status run_rotary(const Json& test, Outputs& outputs) {
  const Json& attributes = test.at("attributes");
  const JsonArray x = needed(test, "input");
  const JsonArray cos = needed(test, "cos_cache");
  const JsonArray sin = needed(test, "sin_cache");
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
  QKV_RETURN_IF_ERROR(rotary_embedding(from, to, options, workspace));
  outputs = {{"output", output}};
  return {};
}

Status run_gelu(const Json& test, Outputs& outputs) {
  const JsonArray x = needed(test, "x");
  const bool tanh = test.at("attributes").value("approximate", "none") == "tanh";
  std::vector<float>& y = outputs["y"];
  y.resize(x.values.size());
  return activate(x.view(), view_of(y.data(), x.shape),
                  tanh ? Activation::kGeluTanh : Activation::kGelu);
}

Status run_softmax(const Json& test, Outputs& outputs) {
  const JsonArray x = needed(test, "x");
  SoftmaxOptions options;
  options.axis = test.at("attributes").value("axis", options.axis);
  std::vector<float>& y = outputs["y"];
  y.resize(x.values.size());
  return softmax(x.view(), view_of(y.data(), x.shape), options);
}

}  // namespace

Status run_onnx(const Json& example, Outputs& outputs) {
  using Runner = Status (*)(const Json&, Outputs&);
  const Runner attention_runner = [](const Json& test, Outputs& results) {
    return OnnxAttention(test).run(results);
  };
  const std::map<std::string, Runner> runners = {
      {"Attention", attention_runner},
      {"LayerNormalization", run_norm},
      {"RMSNormalization", run_norm},
      {"RotaryEmbedding", run_rotary},
      {"Gelu", run_gelu},
      {"Softmax", run_softmax},
  };
  return runners.at(example.at("op").get<std::string>())(example, outputs);
}

}  // namespace qkv::test
