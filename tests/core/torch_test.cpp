// Operators against PyTorch: the fixtures of tests/reference/torch hold its results in float64. The library is
// held to the bounds of its headers, and the suite's own oracle to the same bounds in float64.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

#include "blocks_oracle.hpp"
#include "layer.hpp"
#include "torch_state.hpp"

namespace qkv::test::torch_test {
namespace {

/// Between two computations in float64 that each obey the bound of a float32 one: its unit roundoff
/// is 2^29 times finer.
constexpr double kBothFloat64 = 2 * 0x1p-29;

/// Runs `check` on every case, with its name at hand.
template <class F>
void for_each_case(const char* name, F check) {
  const Json file = Json::parse(fixtures().at(name));
  REQUIRE(!file.at("cases").empty());
  for (const Json& c : file.at("cases")) {
    INFO(name << ": " << c.at("name"));
    check(c);
  }
}

// --- attention() ---

/// out and, where PyTorch's are given, weights; `args` as it was passed to attention().
void compare_with_torch(const AttentionArgs& args, const Json& c) {
  const JsonArray output(c.at("output"));
  const JsonArray all_weights = c.contains("weights") ? JsonArray(c.at("weights")) : output;
  Quantity out("torch attention out");
  Quantity weights("torch attention weights");
  Quantity oracle_out("oracle and torch, attention out");
  REQUIRE(output.shape == std::vector<Index>(args.out.shape.begin(), args.out.shape.end()));
  std::size_t next = 0;
  std::size_t next_weight = 0;
  for (Index row = 0; row < args.q.extent(0) * args.q.extent(1) * args.q.extent(2); ++row) {
    const Index i = row % args.q.extent(2);
    const Index h = row / args.q.extent(2) % args.q.extent(1);
    const Index b = row / args.q.extent(2) / args.q.extent(1);
    const oracle::Inputs<float> in{args.q, args.k, args.v};
    const oracle::Row exact = oracle::attention_row(in, args.options, {b, h, i});
    const auto bound = bounds::attention(exact, args.q.extent(3), args.k.extent(2));
    for (Index d = 0; d < args.v.extent(3); ++d) {
      const double torch = output.exact[next++];
      out.add(*args.out.at(b, h, i, d), torch, bound.out(), exact.value_size);
      oracle_out.add(exact.out[static_cast<std::size_t>(d)], torch, kBothFloat64 * bound.out());
    }
    for (Index j = 0; c.contains("weights") && j < args.k.extent(2); ++j) {
      const double torch = all_weights.exact[next_weight++];
      weights.add(*args.extras.weights.at(b, h, i, j), torch, bound.weight(torch), torch);
    }
  }
  if (!c.contains("weights")) {
    weights.may_be_empty();
  }
  require_within(Comparison{{out, weights, oracle_out}});
}

TEST_CASE("torch: attention", "[torch][attention]") {
  for_each_case("attention", [](const Json& c) {
    const JsonArray q(c.at("q"));
    const JsonArray k(c.at("k"));
    const JsonArray v(c.at("v"));
    Problem p({.batch = q.shape[0],
               .heads = q.shape[1],
               .kv_heads = k.shape[1],
               .tq = q.shape[2],
               .tk = k.shape[2],
               .dk = q.shape[3],
               .dv = v.shape[3]},
              0);
    p.q = q.values;
    p.k = k.values;
    p.v = v.values;
    p.options.causal = c.at("causal");
    if (c.contains("mask")) {
      const JsonArray mask(c.at("mask"));
      p.mask = mask.bytes();
      p.bias = mask.values;
      (mask.is_bool() ? p.mask_shape : p.bias_shape) = mask.shape;
    }
    p.run();
    compare_with_torch(p.args(), c);
  });
}

// --- MultiHeadAttention ---

/// The masks of nn.MultiheadAttention, where true leaves a key out, as options.
struct TorchMasks {
  explicit TorchMasks(const Json& c) {
    if (c.contains("attn_mask")) {
      const JsonArray array(c.at("attn_mask"));
      auto shape = array.shape;
      if (shape.size() == 3) {  // [B * H, Tq, Tk]
        shape = {2, shape[0] / 2, shape[1], shape[2]};
      }
      additive = array.values;
      mask = array.bytes(true);
      if (array.is_bool()) {
        options.mask = view_of<const std::uint8_t>(mask.data(), shape);
      } else {
        options.additive_mask = view_of<const float>(additive.data(), shape);
      }
    }
    if (c.contains("key_padding_mask")) {
      const JsonArray array(c.at("key_padding_mask"));
      mask = array.bytes(true);
      options.mask = {mask.data(), {array.shape[0], 1, 1, array.shape[1]}};
    }
  }
  TorchMasks(const TorchMasks&) = delete;
  TorchMasks& operator=(const TorchMasks&) = delete;

  std::vector<std::uint8_t> mask;
  std::vector<float> additive;
  AttentionOptions options;
};

/// A layer of the fixture with activations in a LayerProblem, which brings the derived bounds.
struct TorchLayer {
  explicit TorchLayer(const Json& c)
      : state(c.at("state")),
        x(c.at("x")),
        context(c.contains("context") ? JsonArray(c.at("context")) : x),
        masks(c),
        problem(config(), {x.shape[0], x.shape[1], c.contains("context") ? context.shape[1] : -1},
                0) {
    problem.x = x.values;
    problem.context = context.values;
    problem.options = masks.options;
  }

  [[nodiscard]] MultiHeadAttentionConfig config() const {
    return {.d_model = 12,
            .num_heads = 3,
            .d_context = context.shape[2],
            .weight_layout = WeightLayout::kOutIn};
  }
  /// For the oracle, whose matrices are [in, out].
  [[nodiscard]] oracle::LayerInputs inputs() {
    MultiHeadAttentionWeights w = state.attention("");
    for (TensorView<const float>* matrix : {&w.wq, &w.wk, &w.wv, &w.wo}) {
      *matrix = flipped(*matrix);
    }
    const auto args = problem.args();
    return {problem.resolved, w, args.x, args.context.absent() ? args.x : args.context,
            problem.options};
  }

  TorchState state;
  JsonArray x, context;
  TorchMasks masks;
  LayerProblem problem;
};

/// Checks the oracle itself against PyTorch; `exact` then has PyTorch's numbers instead of its own.
/// compare_layer() demands bounds below kMeaningful times the values, so that is one of them.
void take_torch_values(oracle::Layer& exact, const Json& c) {
  const JsonArray output(c.at("output"));
  const JsonArray weights(c.at("weights"));
  REQUIRE(output.exact.size() == exact.y.value.size());
  REQUIRE(weights.exact.size() == exact.rows.size() * exact.rows[0].weights.size());
  Quantity y("oracle and torch, layer y");
  Quantity w("oracle and torch, layer weights");
  for (std::size_t i = 0; i < exact.y.value.size(); ++i) {
    y.add(exact.y.value[i], output.exact[i], kBothFloat64 * exact.y.size[i] * bounds::kMeaningful);
  }
  exact.y.value = output.exact;
  std::size_t next = 0;
  for (oracle::Row& row : exact.rows) {
    for (double& weight : row.weights) {
      const double torch = weights.exact[next++];
      w.add(weight, torch, kBothFloat64 * torch * bounds::kMeaningful);
      weight = torch;
    }
  }
  require_within(Comparison{{y, w}});
}

void check_layer(TorchLayer& layer, const oracle::Layer& exact) {
  layer.problem.run();
  const auto args = layer.problem.args();
  require_within(compare_layer(layer.inputs(), {args.y, args.extras}, exact));
}

TEST_CASE("torch: nn.MultiheadAttention", "[torch][layer]") {
  for_each_case("multi_head_attention", [](const Json& c) {
    TorchLayer apart(c);
    apart.problem.create(apart.state.attention(""));
    oracle::Layer exact = oracle::layer(apart.inputs());
    take_torch_values(exact, c);
    check_layer(apart, exact);

    if (apart.state.has("in_proj_weight") && !c.contains("context")) {
      TorchLayer fused(c);
      fused.problem.create(fused.state.fused_attention(""));
      CHECK(fused.problem.run().y == apart.problem.result.y);
    }
    if (c.contains("key_padding_mask")) {  // padding stands at the end, so lengths say the same
      const JsonArray padding(c.at("key_padding_mask"));
      std::vector<std::int32_t> lengths;
      for (Index b = 0; b < padding.shape[0]; ++b) {
        const auto row = padding.exact.begin() + b * padding.shape[1];
        lengths.push_back(static_cast<std::int32_t>(std::count(row, row + padding.shape[1], 0.0)));
      }
      apart.problem.options = {};
      apart.problem.options.key_lengths = {lengths.data(), {padding.shape[0]}};
      check_layer(apart, exact);
    }
  });
}

// --- Norms, activations, embeddings ---

TEST_CASE("torch: nn.LayerNorm", "[torch][norm]") {
  for_each_case("layer_norm", [](const Json& c) {
    const TorchState state(c.at("state"));
    const JsonArray x(c.at("x"));
    const JsonArray output(c.at("output"));
    const double epsilon = c.at("epsilon");
    NormOptions options;
    options.gamma = state.view("weight");
    options.beta = state.view("bias");
    options.axis = c.at("axis");
    options.epsilon = static_cast<float>(epsilon);
    std::vector<float> out(x.values.size());
    require_ok(layer_norm(x.view(), view_of(out.data(), x.shape), options));

    const std::vector<float> beta = values_of(options.beta);
    const auto exact = oracle::normalized({true, epsilon, values_of(options.gamma), beta},
                                          options.gamma.size(), oracle::exactly(x.values));
    Quantity computed("torch layer_norm");
    Quantity oracle_too("oracle and torch, layer norm");
    for (std::size_t i = 0; i < out.size(); ++i) {
      // Rounding epsilon to float32 moves the root of variance + epsilon by at most u / 2 of itself.
      const double scaled = exact.value[i] - static_cast<double>(beta[i % beta.size()]);
      const double bound = exact.error[i] + bounds::kU / 2 * std::abs(scaled);
      computed.add(out[i], output.exact[i], bound, std::max(1.0, std::abs(output.exact[i])));
      oracle_too.add(exact.value[i], output.exact[i], kBothFloat64 * exact.error[i]);
    }
    require_within(Comparison{{computed, oracle_too}});
  });
}

TEST_CASE("torch: gelu", "[torch][activation]") {
  for_each_case("gelu", [](const Json& c) {
    const bool tanh = c.at("approximate") == "tanh";
    const Activation f = tanh ? Activation::kGeluTanh : Activation::kGelu;
    const JsonArray x(c.at("x"));
    const JsonArray output(c.at("output"));
    std::vector<float> out(x.values.size());
    require_ok(activate(x.view(), view_of(out.data(), x.shape), f));
    Quantity computed("torch gelu");
    Quantity oracle_too("oracle and torch, gelu");
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double at = x.values[i];
      const double bound = oracle::activation_bound(f, at);
      // PyTorch forms 1 + erf and 1 + tanh, which cancel below 0: it errs by an ulp of x, not of y.
      const double cancelled = 2 * 0x1p-53 * std::abs(at);
      computed.add(out[i], output.exact[i], bound + cancelled, std::abs(output.exact[i]));
      oracle_too.add(oracle::activation(f, at), output.exact[i], kBothFloat64 * bound + cancelled);
    }
    require_within(Comparison{{computed, oracle_too}});
  });
}

TEST_CASE("torch: nn.Embedding", "[torch][embedding]") {
  for_each_case("embedding", [](const Json& c) {
    const TorchState state(c.at("state"));
    const auto ids = c.at("ids").get<std::vector<std::int32_t>>();
    const JsonArray output(c.at("output"));
    std::vector<float> out(output.values.size());
    require_ok(embedding(state.view("weight"), {ids.data(), {static_cast<Index>(ids.size())}},
                         view_of(out.data(), output.shape)));
    CHECK(first_difference(out, output.values) == "");
  });
}

}  // namespace
}  // namespace qkv::test::torch_test
