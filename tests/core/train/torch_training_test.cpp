// Gradients and training against PyTorch, whose numbers in float64 are in tests/reference/torch/fixtures/training.json.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fixtures.hpp"
#include "problem.hpp"
#include "qkv/train/attention.hpp"
#include "qkv/train/gru.hpp"
#include "qkv/train/language_model.hpp"
#include "qkv/train/softmax.hpp"

namespace qkv::test::torch_training_test {
namespace {

const Json& file() {
  static const Json json = Json::parse(fixtures().at("training"));
  return json;
}

/// All of an array against PyTorch's: errors in units of u times its greatest element, times `terms`, the roundings on the way.
void compare(const std::string& name, const std::vector<float>& computed, const JsonArray& torch,
             double terms) {
  double most = 0.0;
  for (const double x : torch.exact) {
    most = std::max(most, std::abs(x));
  }
  REQUIRE(computed.size() == torch.exact.size());
  Quantity quantity("torch " + name);
  for (std::size_t i = 0; i < computed.size(); ++i) {
    quantity.add(static_cast<double>(computed[i]), torch.exact[i], bounds::kU * terms * most, most);
  }
  require_within(quantity);
}

std::vector<float> empty_like(const JsonArray& array) {
  return std::vector<float>(array.values.size());
}
TensorView<float> view_of_result(std::vector<float>& values, const JsonArray& like) {
  const TensorView<const float> shape = like.view();
  TensorView<float> view;
  view.data = values.data();
  view.rank = shape.rank;
  view.shape = shape.shape;
  view.strides = shape.strides;
  return view;
}

TEST_CASE("torch: gradients of attention", "[train][torch]") {
  for (const Json& c : file().at("attention")) {
    INFO(c.at("name"));
    const JsonArray q(c.at("q"));
    const JsonArray k(c.at("k"));
    const JsonArray v(c.at("v"));
    const JsonArray d_output(c.at("d_output"));
    std::vector<float> out = empty_like(d_output);
    std::vector<float> lse(out.size());
    AttentionArgs forward;
    forward.q = q.view();
    forward.k = k.view();
    forward.v = v.view();
    forward.out = view_of_result(out, d_output);
    forward.options.causal = c.at("causal");
    forward.options.softcap = c.at("softcap");
    forward.extras.lse = {lse.data(), {q.shape[0], q.shape[1], q.shape[2]}};
    const JsonArray bias(c.contains("bias") ? c.at("bias") : c.at("q"));
    std::vector<float> d_bias = empty_like(bias);
    std::vector<float> dq = empty_like(q);
    std::vector<float> dk = empty_like(k);
    std::vector<float> dv = empty_like(v);
    train::AttentionBackwardArgs args;
    if (c.contains("bias")) {
      forward.options.bias = bias.view();
      args.d_bias = view_of_result(d_bias, bias);
    }
    Workspace workspace;
    require_ok(attention(forward, workspace));
    args.d_out = d_output.view();
    args.q = forward.q;
    args.k = forward.k;
    args.v = forward.v;
    args.out = forward.out;
    args.lse = forward.extras.lse;
    args.options = forward.options;
    args.dq = view_of_result(dq, q);
    args.dk = view_of_result(dk, k);
    args.dv = view_of_result(dv, v);
    require_ok(train::attention_backward(args, workspace));
    compare("attention_backward", dq, JsonArray(c.at("dq")), 20);
    compare("attention_backward", dk, JsonArray(c.at("dk")), 20);
    compare("attention_backward", dv, JsonArray(c.at("dv")), 20);
    if (c.contains("bias")) {
      compare("attention_backward", d_bias, JsonArray(c.at("d_bias")), 20);
    }
  }
}

/// [rows, columns] in the other order.
std::vector<float> turned(const JsonArray& matrix) {
  const Index rows = matrix.shape[0];
  const Index columns = matrix.shape[1];
  std::vector<float> values(matrix.values.size());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      values[static_cast<std::size_t>(j * rows + i)] =
          matrix.values[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return values;
}
JsonArray turned_exact(const Json& json) {
  JsonArray matrix(json);
  const JsonArray from(json);
  const auto rows = static_cast<std::size_t>(from.shape[0]);
  const auto columns = static_cast<std::size_t>(from.shape[1]);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      matrix.exact[j * rows + i] = from.exact[i * columns + j];
    }
  }
  return matrix;
}

TEST_CASE("torch: a GRU and its gradients", "[train][torch][gru]") {
  const Json& c = file().at("gru");
  const Json& state = c.at("state");
  const JsonArray x(c.at("x"));
  const JsonArray h0(c.at("h0"));
  const JsonArray output(c.at("output"));
  const JsonArray d_output(c.at("d_output"));
  const std::vector<float> wx = turned(JsonArray(state.at("weight_ih_l0")));
  const std::vector<float> wh = turned(JsonArray(state.at("weight_hh_l0")));
  const JsonArray bx(state.at("bias_ih_l0"));
  const JsonArray bh(state.at("bias_hh_l0"));
  train::GruWeights weights;
  weights.wx = {wx.data(), {5, 12}};
  weights.wh = {wh.data(), {4, 12}};
  weights.bx = bx.view();
  weights.bh = bh.view();
  std::vector<float> out = empty_like(output);
  Workspace workspace;
  require_ok(train::gru(
      {.x = x.view(), .weights = weights, .h0 = h0.view(), .out = view_of_result(out, output)},
      workspace));
  compare("gru", out, output, 10);
  std::vector<float> dx = empty_like(x);
  std::vector<float> dh0 = empty_like(h0);
  std::vector<float> dwx(wx.size());
  std::vector<float> dwh(wh.size());
  std::vector<float> dbx(12);
  std::vector<float> dbh(12);
  train::GruBackwardArgs args;
  args.d_out = d_output.view();
  args.x = x.view();
  args.weights = weights;
  args.h0 = h0.view();
  args.out = TensorView<const float>(out.data(), {2, 6, 4});
  args.dx = view_of_result(dx, x);
  args.dh0 = view_of_result(dh0, h0);
  args.dwx = {dwx.data(), {5, 12}};
  args.dwh = {dwh.data(), {4, 12}};
  args.dbx = {dbx.data(), {12}};
  args.dbh = {dbh.data(), {12}};
  require_ok(train::gru_backward(args, workspace));
  const Json& gradients = c.at("gradients");
  compare("gru_backward", dx, JsonArray(c.at("dx")), 20);
  compare("gru_backward", dh0, JsonArray(c.at("dh0")), 20);
  compare("gru_backward", dwx, turned_exact(gradients.at("weight_ih_l0")), 20);
  compare("gru_backward", dwh, turned_exact(gradients.at("weight_hh_l0")), 20);
  compare("gru_backward", dbx, JsonArray(gradients.at("bias_ih_l0")), 20);
  compare("gru_backward", dbh, JsonArray(gradients.at("bias_hh_l0")), 20);
}

TEST_CASE("torch: cross-entropy and its gradient", "[train][torch]") {
  for (const Json& c : file().at("cross_entropy")) {
    INFO(c.at("name"));
    const JsonArray logits(c.at("logits"));
    const std::vector<std::int32_t> targets = c.at("targets");
    std::vector<float> d_logits = empty_like(logits);
    train::CrossEntropyArgs args;
    args.logits = logits.view();
    args.targets = {targets.data(), {static_cast<Index>(targets.size())}};
    args.label_smoothing = c.at("smoothing");
    args.d_logits = view_of_result(d_logits, logits);
    train::CrossEntropy found;
    Workspace workspace;
    require_ok(train::cross_entropy(args, found, workspace));
    compare("cross_entropy", d_logits, JsonArray(c.at("d_logits")), 10);
    // The loss of a row has the bound of the header; its mean no more.
    CHECK(std::abs(found.loss - c.at("loss").get<double>()) < bounds::kU * 60);
    CHECK(found.counted == 4);
  }
}

// ---------------------------------------------------------------------------------- a whole model

/// The name of an array here as PyTorch has it, and which third of it (-1 for all).
struct Place {
  std::string name;
  int third = -1;
};

Place place_of(const std::string& name) {
  static const std::map<std::string, Place> ends = {
      {"norm1.gamma", {"norm1.weight"}},
      {"norm1.beta", {"norm1.bias"}},
      {"norm2.gamma", {"norm2.weight"}},
      {"norm2.beta", {"norm2.bias"}},
      {"attention.wq", {"self_attn.in_proj_weight", 0}},
      {"attention.bq", {"self_attn.in_proj_bias", 0}},
      {"attention.wk", {"self_attn.in_proj_weight", 1}},
      {"attention.bk", {"self_attn.in_proj_bias", 1}},
      {"attention.wv", {"self_attn.in_proj_weight", 2}},
      {"attention.bv", {"self_attn.in_proj_bias", 2}},
      {"attention.wo", {"self_attn.out_proj.weight"}},
      {"attention.bo", {"self_attn.out_proj.bias"}},
      {"feedForward.w1", {"linear1.weight"}},
      {"feedForward.b1", {"linear1.bias"}},
      {"feedForward.w2", {"linear2.weight"}},
      {"feedForward.b2", {"linear2.bias"}}};
  if (name.rfind("layers.", 0) == 0) {
    const std::size_t dot = name.find('.', 7);
    Place place = ends.at(name.substr(dot + 1));
    place.name = name.substr(0, dot + 1) + place.name;
    return place;
  }
  if (name == "norm.gamma" || name == "norm.beta") {
    return {name == "norm.gamma" ? "norm.weight" : "norm.bias"};
  }
  return {name + ".weight"};  // embedding, positions, head
}

/// PyTorch's numbers for an array of the trainer: matrices of its linear maps are [out, in].
std::vector<double> torch_numbers(const Json& arrays, const train::TrainedArray& array) {
  const std::string name = array.name;
  const Place place = place_of(name);
  const JsonArray json(arrays.at(place.name));
  const auto size = static_cast<std::size_t>(array.value.size());
  const std::size_t first = place.third < 0 ? 0 : static_cast<std::size_t>(place.third) * size;
  std::vector<double> numbers(json.exact.begin() + static_cast<Index>(first),
                              json.exact.begin() + static_cast<Index>(first + size));
  if (array.value.rank == 1 || name == "embedding" || name == "positions") {
    return numbers;
  }
  std::vector<double> result(size);
  const auto in = static_cast<std::size_t>(array.value.extent(0));
  const auto out = static_cast<std::size_t>(array.value.extent(1));
  for (std::size_t i = 0; i < in; ++i) {
    for (std::size_t j = 0; j < out; ++j) {
      result[i * out + j] = numbers[j * in + i];
    }
  }
  return result;
}

TEST_CASE("torch: a language model, its gradients and a hundred steps of AdamW",
          "[train][torch][model]") {
  const Json& c = file().at("model");
  const Json& o = c.at("options");
  LanguageModelConfig config;
  config.vocabulary = 7;
  config.num_layers = 2;
  config.d_model = 8;
  config.num_heads = c.at("num_heads");
  config.d_feed_forward = 16;
  config.max_length = 6;
  train::TrainerOptions options;
  options.schedule.peak = o.at("learning_rate");
  options.weight_decay = o.at("weight_decay");
  options.clip_norm = o.at("clip_norm");
  options.epsilon = o.at("epsilon");
  options.beta2 = o.at("beta2");
  train::LanguageModelTrainer trainer;
  require_ok(train::LanguageModelTrainer::create(config, options, trainer));
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const train::TrainedArray a = trainer.array(i);
    const std::vector<double> numbers = torch_numbers(c.at("state"), a);
    std::transform(numbers.begin(), numbers.end(), a.value.data,
                   [](double x) { return static_cast<float>(x); });
  }
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> targets;
  for (const auto& [from, to] : {std::pair{"ids", &ids}, std::pair{"targets", &targets}}) {
    for (const Json& row : c.at(from)) {
      to->insert(to->end(), row.begin(), row.end());
    }
  }
  train::LanguageBatch batch;
  batch.tokens.ids = {ids.data(), {3, 6}};
  batch.targets = {targets.data(), {3, 6}};
  Workspace workspace;
  Quantity gradients("torch gradients of a language model");
  Quantity losses("torch losses of a hundred steps");
  Quantity norms("torch norms of a hundred steps");
  for (std::size_t step = 0; step < c.at("losses").size(); ++step) {
    train::StepResult result;
    require_ok(trainer.step(batch, workspace, result));
    // A step moves a weight by at most about 1e-2 and rounds it to 2^-25 of its size; that the rounding of a gradient
    // moves the next steps lets the difference grow with their number.
    const double grown = bounds::kU * 4 * static_cast<double>(step + 1);
    losses.add(result.before.loss, c.at("losses")[step], grown, 1.0);
    norms.add(result.gradient_norm, c.at("norms")[step], 5 * grown, 1.0);
    for (Index i = 0; step == 0 && i < trainer.array_count(); ++i) {
      const train::TrainedArray a = trainer.array(i);
      const std::vector<double> numbers = torch_numbers(c.at("gradients"), a);
      for (std::size_t n = 0; n < numbers.size(); ++n) {
        gradients.add(static_cast<double>(a.gradient.data[n]), numbers[n], bounds::kU * 20, 0.1);
      }
    }
  }
  Quantity weights("torch weights after a hundred steps");
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const train::TrainedArray a = trainer.array(i);
    const std::vector<double> numbers = torch_numbers(c.at("last"), a);
    // The gradient of a bias of keys is 0 but for rounding, of which AdamW makes steps of its own.
    const bool of_nothing = std::string(a.name).find("attention.bk") != std::string::npos;
    for (std::size_t n = 0; n < numbers.size() && !of_nothing; ++n) {
      weights.add(static_cast<double>(a.value.data[n]), numbers[n], bounds::kU * 200, 0.1);
    }
  }
  require_within(gradients);
  require_within(losses);
  require_within(norms);
  require_within(weights);
}

}  // namespace
}  // namespace qkv::test::torch_training_test
