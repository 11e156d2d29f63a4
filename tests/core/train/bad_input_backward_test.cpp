// Every argument of the backward operators, wrong in every way their headers list.
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <vector>

#include "problem.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/attention.hpp"
#include "qkv/train/embedding.hpp"
#include "qkv/train/linear.hpp"
#include "qkv/train/norm.hpp"
#include "qkv/train/softmax.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_backward_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> halves(Index n) { return std::vector<float>(static_cast<std::size_t>(n), 0.5F); }

// -------------------------------------------------------------------------------------- attention

struct Backward : Call, train::AttentionBackwardArgs {
  Backward() : Call("attention_backward"), problem({2, 4, 2, 3, 5, 6, 7}, 1) {
    scratch_first = true;
    problem.add_mask({3, 5});
    problem.add_bias({4, 3, 5});
    problem.causal(2);
    sinks_.assign(4, 0.25F);
    problem.options.sinks = {sinks_.data(), {4}};
    problem.run();
    const AttentionArgs forward = problem.args();
    q = forward.q;
    k = forward.k;
    v = forward.v;
    out = {forward.out.data, {2, 4, 3, 7}};
    lse = {forward.extras.lse.data, {2, 4, 3}};
    options = forward.options;
    d_out = {d_out_.data(), {2, 4, 3, 7}};
    dq = {dq_.data(), {2, 4, 3, 6}};
    dk = {dk_.data(), {2, 2, 5, 6}};
    dv = {dv_.data(), {2, 2, 5, 7}};
    d_bias = {d_bias_.data(), {4, 3, 5}};
    d_sinks = {d_sinks_.data(), {4}};
    gather();
  }
  Status run() override { return train::attention_backward(*this, workspace); }
  std::size_t scratch_bytes() override { return train::attention_backward_scratch_bytes(*this); }
  std::vector<Array> arrays() override {
    return {{"q", q, {kAny, kAny, kAny, kAny}},
            {"k", k, {2, kAny, kAny, 6}},
            {"v", v, {2, 2, 5, kAny}},
            {"mask", options.mask, {2, 4, 3, 5}, {.broadcasts = true}},
            {"sinks", options.sinks, {4}, {.optional = true}},
            {"d_out", d_out, {2, 4, 3, 7}},
            {"dq", dq, {2, 4, 3, 6}, {.written = true}},
            {"dk", dk, {2, 2, 5, 6}, {.written = true}},
            {"dv", dv, {2, 2, 5, 7}, {.written = true}},
            {"d_sinks", d_sinks, {4}, {.written = true, .optional = true}}};
  }

  Problem problem;
  std::vector<float> sinks_, d_out_ = halves(168), dq_ = halves(144), dk_ = halves(120),
                             dv_ = halves(140), d_bias_ = halves(60), d_sinks_ = halves(4);
};

TEST_CASE("attention_backward: arrays that do not fit are refused", "[train][bad-input]") {
  require_shapes_checked(correct<Backward>);
  require_data_checked(correct<Backward>);
  require_strides_checked(correct<Backward>);
  require_overlaps_refused(correct<Backward>);
  require_sharing_refused(correct<Backward>);
  require_refused<Backward>({
      {[](auto& c) { c.lse = {}; }, kInvalid, "lse is missing", "that of the forward call"},
      {[](auto& c) { c.lse.shape[2] = 4; }, kShapeError, "lse is [2,4,4]", "[2,4,3]"},
      {[](auto& c) { c.out.shape[3] = 6; }, kShapeError, "out is [2,4,3,6]", "[2,4,3,7]"},
      {[](auto& c) { c.d_bias.shape[2] = 1; }, kShapeError, "d_bias is [4,3,1]",
       "[4,3,5], as bias is"},
      {[](auto& c) { c.d_bias.strides[1] = 0; }, kInvalid,
       "d_bias has strides [15,0,1] for [4,3,5]", "strides with which no two elements overlap"},
      {[](auto& c) { c.d_bias.data = nullptr; }, kInvalid, "d_bias has no data",
       "[4,3,5] elements"},
      {[](auto& c) { c.options.bias = {}; }, kInvalid, "d_bias is given without bias",
       "both or neither"},
      {[](auto& c) { c.options.sinks = {}; }, kInvalid, "d_sinks is given without sinks",
       "both or neither"},
  });
}

TEST_CASE("attention_backward: options are checked as attention() checks them",
          "[train][bad-input]") {
  require_refused<Backward>({
      {[](auto& c) { c.options.temperature = 0.0F; }, kInvalid, "temperature is 0",
       "a number of at least 1.18e-38"},
      {[](auto& c) { c.options.scale = kNan; }, kInvalid, "scale is NaN", "a finite number"},
      {[](auto& c) { c.options.softcap = -1.0F; }, kRange, "softcap is -1", "at least 0 (none)"},
      {[](auto& c) { c.options.dropout.rate = 1.0F; }, kRange, "dropout.rate is 1", "[0, 1)"},
  });
}

// ----------------------------------------------------------------------------------------- linear

struct LinearCall : Call, train::LinearBackwardArgs {
  LinearCall() : Call("linear_backward") {
    d_out = {a.data(), {2, 3, 5}};
    x = {b.data(), {2, 3, 4}};
    w = {c.data(), {4, 5}};
    dx = {d.data(), {2, 3, 4}};
    dw = {e.data(), {4, 5}};
    d_bias = {f.data(), {5}};
    gather();
  }
  Status run() override { return train::linear_backward(*this, workspace); }
  std::vector<Array> arrays() override {
    const Demands dense{.dense = true};
    const Demands gradient{.written = true, .dense = true, .optional = true};
    return {{"d_out", d_out, {2, 3, 5}, dense},
            {"dx", dx, {2, 3, 4}, gradient},
            {"dw", dw, {4, 5}, gradient},
            {"d_bias", d_bias, {5}, gradient}};
  }
  std::vector<float> a = halves(30), b = halves(24), c = halves(20), d = halves(24), e = halves(20),
                     f = halves(5);
};

TEST_CASE("linear_backward: arrays that do not fit are refused", "[train][bad-input]") {
  require_arrays_checked(correct<LinearCall>);
  require_sharing_refused(correct<LinearCall>);
  require_refused<LinearCall>({
      {[](auto& c) { c.layout = static_cast<WeightLayout>(9); }, kInvalid, "layout is 9",
       "a value of WeightLayout"},
      {[](auto& c) { c.w.shape[0] = 0; }, kShapeError, "w is [0,5]", "extents of at least 1"},
      {[](auto& c) { c.x.rank = 0; }, kShapeError, "x has rank 0", "1 to 4"},
      {[](auto& c) { c.x.shape[2] = 3; }, kShapeError, "x is [2,3,3]", "[2,3,4]"},
  });
}

// ------------------------------------------------------------------------------------------ norms

struct NormCall : Call, train::NormBackwardArgs {
  explicit NormCall(const char* name) : Call(name) {
    d_out = {a.data(), {3, 5}};
    x = {b.data(), {3, 5}};
    gamma = {c.data(), {5}};
    dx = {d.data(), {3, 5}};
    d_gamma = {e.data(), {5}};
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = static_cast<float>(i * i % 7);
    }
  }
  std::vector<Array> arrays() override {
    const Demands gradient{.written = true, .dense = true, .optional = true};
    std::vector<Array> all = {{"d_out", d_out, {3, 5}, {.dense = true}},
                              {"gamma", gamma, {5}, {.dense = true, .optional = true}},
                              {"dx", dx, {3, 5}, {.written = true, .dense = true}},
                              {"d_gamma", d_gamma, {5}, gradient}};
    if (!d_beta.absent()) {
      all.push_back({"d_beta", d_beta, {5}, gradient});
    }
    return all;
  }
  std::vector<float> a = halves(15), b = halves(15), c = halves(5), d = halves(15), e = halves(5),
                     f = halves(5);
};

struct LayerNormCall : NormCall {
  LayerNormCall() : NormCall("layer_norm_backward") {
    d_beta = {f.data(), {5}};
    gather();
  }
  Status run() override { return train::layer_norm_backward(*this, workspace); }
};

struct RmsNormCall : NormCall {
  RmsNormCall() : NormCall("rms_norm_backward") { gather(); }
  Status run() override { return train::rms_norm_backward(*this, workspace); }
};

TEST_CASE("layer_norm_backward, rms_norm_backward: arrays that do not fit are refused",
          "[train][bad-input]") {
  require_arrays_checked(correct<LayerNormCall>);
  require_arrays_checked(correct<RmsNormCall>);
  require_sharing_refused(correct<LayerNormCall>);
  require_refused<LayerNormCall>({
      {[](auto& c) { c.epsilon = -1.0F; }, kInvalid, "epsilon is -1",
       "a finite number of at least 0"},
      {[](auto& c) { c.x.rank = 0; }, kShapeError, "x has rank 0", "1 to 4"},
  });
  require_refused<RmsNormCall>({
      {[](auto& c) { c.d_beta = {c.f.data(), {5}}; }, kInvalid, "d_beta is [5]",
       "none: RMS normalisation has no beta"},
  });
}

// ------------------------------------------------------------------------- activations and losses

struct ActivationCall : Call {
  ActivationCall() : Call("activate_backward") { gather(); }
  Status run() override { return train::activate_backward(d_out, x, dx, kind); }
  std::vector<Array> arrays() override {
    return {{"x", x, {3, 5}, {.dense = true, .in_place = nullptr}},
            {"dx", dx, {3, 5}, {.written = true, .dense = true, .in_place = "d_out"}}};
  }
  std::vector<float> a = halves(15), b = halves(15), c = std::vector<float>(15, 3.0F);
  TensorView<const float> d_out{a.data(), {3, 5}}, x{b.data(), {3, 5}};
  TensorView<float> dx{c.data(), {3, 5}};
  Activation kind = Activation::kGelu;
};

TEST_CASE("activate_backward: arrays that do not fit are refused", "[train][bad-input]") {
  require_arrays_checked(correct<ActivationCall>);
  require_refused<ActivationCall>({
      {[](auto& c) { c.kind = static_cast<Activation>(9); }, kInvalid, "activation is 9",
       "a value of Activation"},
      {[](auto& c) { c.d_out.rank = 0; }, kShapeError, "d_out has rank 0", "1 to 4"},
      {[](auto& c) { c.dx.data = c.a.data() + 1; }, kInvalid, "dx overlaps d_out",
       "separate memory"},
  });
}

struct GateCall : Call, train::GateBackwardArgs {
  GateCall() : Call("gate_backward") {
    d_out = {a.data(), {3, 5}};
    x = {b.data(), {3, 5}};
    y = {c.data(), {3, 5}};
    dx = {d.data(), {3, 5}};
    dy = {e.data(), {3, 5}};
    gather();
  }
  Status run() override { return train::gate_backward(*this, kind); }
  std::vector<Array> arrays() override {
    return {{"x", x, {3, 5}, {.dense = true}},
            {"y", y, {3, 5}, {.dense = true}},
            {"dx", dx, {3, 5}, {.written = true, .dense = true}},
            {"dy", dy, {3, 5}, {.written = true, .dense = true}}};
  }
  std::vector<float> a = halves(15), b = halves(15), c = halves(15),
                     d = std::vector<float>(15, 3.0F), e = std::vector<float>(15, 3.0F);
  Activation kind = Activation::kSilu;
};

TEST_CASE("gate_backward: arrays that do not fit are refused", "[train][bad-input]") {
  require_arrays_checked(correct<GateCall>);
  require_refused<GateCall>({
      {[](auto& c) { c.kind = Activation::kRelu; }, kInvalid, "activation is 0",
       "kSilu, kGelu or kGeluTanh"},
      {[](auto& c) { c.dy.data = c.dx.data; }, kInvalid, "dy overlaps dx", "separate memory"},
      // Neither may lie across an array, where a number would be read after it was written.
      {[](auto& c) { c.dx.data = c.a.data() + 1; }, kInvalid, "dx overlaps d_out",
       "separate memory"},
      {[](auto& c) { c.dx.data = const_cast<float*>(c.x.data) + 1; }, kInvalid, "dx overlaps x",
       "separate memory"},
      {[](auto& c) { c.dx.data = const_cast<float*>(c.y.data) + 1; }, kInvalid, "dx overlaps y",
       "separate memory"},
      {[](auto& c) { c.dy.data = c.a.data() + 1; }, kInvalid, "dy overlaps d_out",
       "separate memory"},
      {[](auto& c) { c.dy.data = const_cast<float*>(c.x.data) + 1; }, kInvalid, "dy overlaps x",
       "separate memory"},
      {[](auto& c) { c.dy.data = const_cast<float*>(c.y.data) + 1; }, kInvalid, "dy overlaps y",
       "separate memory"},
  });
}

struct SoftmaxCall : Call {
  SoftmaxCall() : Call("softmax_backward") { gather(); }
  Status run() override { return train::softmax_backward(d_out, out, dx, options); }
  std::vector<Array> arrays() override {
    return {{"out", out, {3, 5}, {.dense = true}},
            {"dx", dx, {3, 5}, {.written = true, .dense = true, .in_place = "d_out"}}};
  }
  std::vector<float> a = halves(15), b = halves(15), c = std::vector<float>(15, 3.0F);
  TensorView<const float> d_out{a.data(), {3, 5}}, out{b.data(), {3, 5}};
  TensorView<float> dx{c.data(), {3, 5}};
  SoftmaxOptions options;
};

TEST_CASE("softmax_backward: arrays and options that do not fit are refused",
          "[train][bad-input]") {
  require_arrays_checked(correct<SoftmaxCall>);
  require_refused<SoftmaxCall>({
      {[](auto& c) { c.options.axis = 2; }, kRange, "axis is 2", "[-2, 2)"},
      {[](auto& c) { c.options.temperature = kNan; }, kInvalid, "temperature is NaN",
       "a number of at least 1.18e-38"},
  });
}

struct LossCall : Call, train::CrossEntropyArgs {
  LossCall() : Call("cross_entropy") {
    logits = {a.data(), {3, 5}};
    targets = {ids.data(), {3}};
    d_logits = {b.data(), {3, 5}};
    gather();
  }
  Status run() override { return train::cross_entropy(*this, found, workspace); }
  std::vector<Array> arrays() override {
    return {{"logits", logits, {kAny, kAny}, {.dense = true}},
            {"targets", targets, {3}, {.dense = true}},
            {"d_logits", d_logits, {3, 5}, {.written = true, .dense = true, .in_place = "logits"}}};
  }
  std::vector<float> a = halves(15), b = std::vector<float>(15, 3.0F);
  std::vector<std::int32_t> ids = {1, -1, 4};
  train::CrossEntropy found;
};

TEST_CASE("cross_entropy: arrays, targets and smoothing that do not fit are refused",
          "[train][bad-input]") {
  require_arrays_checked(correct<LossCall>);
  require_refused<LossCall>({
      {[](auto& c) { const_cast<std::int32_t*>(c.targets.data)[2] = 5; }, kRange, "targets[2] is 5",
       "[0, 5) or -1"},
      {[](auto& c) { const_cast<std::int32_t*>(c.targets.data)[0] = -2; }, kRange,
       "targets[0] is -2", "[0, 5) or -1"},
      {[](auto& c) { c.label_smoothing = 1.5F; }, kRange, "label_smoothing is 1.5", "[0, 1]"},
      {[](auto& c) { c.label_smoothing = kNan; }, kRange, "label_smoothing is NaN", "[0, 1]"},
  });
}

struct EmbeddingCall : Call {
  EmbeddingCall() : Call("embedding_backward") { gather(); }
  Status run() override { return train::embedding_backward(d_out, ids, d_table); }
  std::vector<Array> arrays() override {
    return {{"d_table", d_table, {kAny, kAny}, {.written = true, .dense = true}},
            {"ids", ids, {kAny}, {.dense = true}}};
  }
  std::vector<float> a = halves(12), c = std::vector<float>(20, 3.0F);
  std::vector<std::int32_t> list = {1, 0, 4};
  TensorView<const float> d_out{a.data(), {3, 4}};
  TensorView<const std::int32_t> ids{list.data(), {3}};
  TensorView<float> d_table{c.data(), {5, 4}};
};

TEST_CASE("embedding_backward: arrays and ids that do not fit are refused", "[train][bad-input]") {
  require_data_checked(correct<EmbeddingCall>);
  require_refused<EmbeddingCall>({
      {[](auto& c) { const_cast<std::int32_t*>(c.ids.data)[1] = 5; }, kRange, "ids[1] is 5",
       "[0, 5)"},
      {[](auto& c) { c.d_out.shape[1] = 3; }, kShapeError, "d_out is [3,3]", "[3,4]"},
  });
}

}  // namespace
}  // namespace qkv::test::bad_input_backward_test
