// Transformer blocks and a stack of them against PyTorch, whose results in float64 are in the fixtures of
// tests/reference/torch. The bound of a block is the one that qkv/transformer.hpp measured.
#include <catch2/catch_test_macros.hpp>

#include "block.hpp"
#include "torch_state.hpp"

namespace qkv::test::torch_blocks_test {
namespace {

constexpr Index kModel = 12;

/// Of nn.TransformerEncoderLayer(12, 3, 20), or of nn.TransformerDecoderLayer.
TransformerBlockConfig block_config(const Json& c, const std::string& activation, bool cross) {
  return {
      .attention = {.d_model = kModel, .num_heads = 3, .weight_layout = WeightLayout::kOutIn},
      .d_feed_forward = 20,
      .norm = c.at("norm_first") ? NormPlacement::kPre : NormPlacement::kPost,
      .activation =
          activation == "relu" ? FeedForwardActivation::kRelu : FeedForwardActivation::kGelu,
      .cross_attention = cross,
  };
}

/// [batch, tokens, kModel] in and out of blocks.
struct Tokens {
  explicit Tokens(const JsonArray& array)
      : batch(array.shape[0]), tokens(array.shape[1]), data(array.values) {}
  [[nodiscard]] TensorView<const float> view() const {
    return {data.data(), {batch, tokens, kModel}};
  }
  [[nodiscard]] TensorView<float> view() { return {data.data(), {batch, tokens, kModel}}; }

  Index batch, tokens;
  std::vector<float> data;
};

/// What the block reads beside x.
struct Reads {
  bool causal = false;
  TensorView<const std::int32_t> key_lengths = {};
  TensorView<const float> context = {};
  TensorView<const std::int32_t> context_lengths = {};
};

/// x = block(x)
void run_block(const TransformerBlockConfig& config, const TransformerBlockWeights& weights,
               const Reads& reads, Tokens& x) {
  TransformerBlock block;
  require_ok(TransformerBlock::create(config, weights, block));
  TransformerBlock::ForwardArgs args;
  args.x = x.view();
  args.y = x.view();
  args.context = reads.context;
  args.context_key_lengths = reads.context_lengths;
  args.options.causal = reads.causal;
  args.options.key_lengths = reads.key_lengths;
  Workspace workspace;
  require_ok(block.forward(args, workspace));
}

TEST_CASE("torch: nn.TransformerEncoderLayer", "[torch][block]") {
  const Json file = Json::parse(fixtures().at("encoder_layer"));
  const TorchState state(file.at("state"));
  REQUIRE(file.at("cases").size() == 4);
  for (const Json& c : file.at("cases")) {
    INFO(c.at("name"));
    Tokens x(JsonArray(file.at("x")));
    run_block(block_config(c, c.at("activation"), false), state.block("", false),
              {.causal = c.at("causal")}, x);
    require_close("torch encoder layer", x.data, JsonArray(c.at("output")).exact);
  }
}

TEST_CASE("torch: nn.TransformerDecoderLayer", "[torch][block][cross]") {
  const Json file = Json::parse(fixtures().at("decoder_layer"));
  const TorchState state(file.at("state"));
  const JsonArray memory(file.at("memory"));
  const auto lengths = file.at("memory_lengths").get<std::vector<std::int32_t>>();
  REQUIRE(file.at("cases").size() == 2);
  for (const Json& c : file.at("cases")) {
    INFO(c.at("name"));
    Tokens x(JsonArray(file.at("x")));
    run_block(block_config(c, c.at("activation"), true), state.block("", true),
              {.causal = true, .context = memory.view(), .context_lengths = {lengths.data(), {2}}},
              x);
    require_close("torch decoder layer", x.data, JsonArray(c.at("output")).exact);
  }
}

/// x = layer_norm(x)
void run_norm(const NormWeights& weights, Tokens& x) {
  NormOptions options;
  options.gamma = weights.gamma;
  options.beta = weights.beta;
  require_ok(layer_norm(x.view(), x.view(), options));
}

/// Two blocks and a norm.
void run_stack(const Json& c, const TorchState& state, const std::string& prefix,
               const Reads& reads, Tokens& x) {
  const bool cross = !reads.context.absent();
  for (const char* layer : {"layers.0.", "layers.1."}) {
    run_block(block_config(c, "gelu", cross), state.block(prefix + layer, cross), reads, x);
  }
  run_norm(state.norm(prefix + "norm."), x);
}

TEST_CASE("torch: nn.Transformer, two encoder and two decoder layers", "[torch][block][stack]") {
  const Json file = Json::parse(fixtures().at("transformer"));
  const TorchState state(file.at("state"));
  const auto lengths = file.at("source_lengths").get<std::vector<std::int32_t>>();
  const TensorView<const std::int32_t> source_lengths{lengths.data(), {2}};
  REQUIRE(file.at("cases").size() == 2);
  for (const Json& c : file.at("cases")) {
    INFO(c.at("name"));
    Tokens memory(JsonArray(file.at("source")));
    run_stack(c, state, "encoder.", {.key_lengths = source_lengths}, memory);
    Tokens y(JsonArray(file.at("target")));
    run_stack(c, state, "decoder.",
              {.causal = true, .context = memory.view(), .context_lengths = source_lengths}, y);
    // One bound of a block for each block on the way, measured like it.
    require_close("torch encoder of two", memory.data, JsonArray(c.at("memory")).exact,
                  2 * bounds::kBlock);
    require_close("torch encoder-decoder of two", y.data, JsonArray(c.at("output")).exact,
                  4 * bounds::kBlock);
  }
}

}  // namespace
}  // namespace qkv::test::torch_blocks_test
