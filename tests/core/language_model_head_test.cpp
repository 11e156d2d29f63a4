// Heads that transform the stream, and those that give classes, of each token or of a row, against the formulas in double precision.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "language_model_check.hpp"
#include "refusal.hpp"

namespace qkv::test::language_model_head_test {
namespace {

struct Head {
  const char* name;
  const char* of;
  HeadTransform transform;
  bool norm, bias;
  HeadPooling pooling;
  Index classes;
};

/// Enough outputs for the greatest of what moves to be near what could. As BERT, RoBERTa and DistilBERT have for classes, ModernBERT by the mean and Llama by the last token; one of each token; and heads of tokens.
constexpr Head kHeads[] = {
    {"bert", "bert", HeadTransform::kTanh, false, true, HeadPooling::kFirst, 12},
    {"distilbert", "bert", HeadTransform::kRelu, false, true, HeadPooling::kFirst, 16},
    {"modern-bert", "modern-bert", HeadTransform::kGelu, true, true, HeadPooling::kMean, 12},
    {"llama", "llama", HeadTransform::kNone, false, false, HeadPooling::kLast, 12},
    {"tokens", "bert", HeadTransform::kNone, false, true, HeadPooling::kNone, 5},
    {"silu", "t5", HeadTransform::kSilu, true, false, HeadPooling::kMean, 12},
    {"gelu_tanh", "llama", HeadTransform::kGeluTanh, true, false, HeadPooling::kNone, 0},
};

LanguageModelConfig config_of(const Head& head) {
  LanguageModelConfig c = family(head.of);
  c.head = true;
  c.tied_embeddings = false;
  c.head_transform = head.transform;
  c.head_norm = head.norm;
  c.head_bias = head.bias;
  c.head_pooling = head.pooling;
  c.classes = head.classes;
  return c;
}

/// The logits of a call: [B, rows, outputs].
std::vector<float> logits_of(const LanguageModel& model, const ModelTokens& tokens, Index rows,
                             ModelSession* session = nullptr, ThreadPool* pool = nullptr) {
  const LanguageModelConfig& c = model.config();
  const Index outputs = c.classes > 0 ? c.classes : c.vocabulary;
  std::vector<float> logits(to_size(tokens.batch * rows * outputs), kUntouched);
  LanguageModel::ForwardArgs args{.ids = {tokens.ids.data(), {tokens.batch, tokens.length}},
                                  .logits = {logits.data(), {tokens.batch, rows, outputs}}};
  if (!tokens.types.empty()) {
    args.token_types = {tokens.types.data(), {tokens.batch, tokens.length}};
  }
  if (!tokens.lengths.empty()) {
    args.key_lengths = {tokens.lengths.data(), {tokens.batch}};
  }
  args.session = session;
  Workspace workspace(pool);
  require_ok(model.forward(args, workspace));
  return logits;
}

TEST_CASE("LanguageModel: heads with transforms, classes and pooling are what the formulas say",
          "[model][head]") {
  for (const Head& head : kHeads) {
    for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kInt8}) {
      for (const Index length : {1, 7}) {
        CAPTURE(head.name, static_cast<int>(format), length);
        const LanguageModelConfig c = config_of(head);
        const ModelWeights weights(c, 500);
        ModelTokens tokens(c, 4, length, 501);
        if (!c.causal && length > 1) {
          tokens.lengths = {7, 4, 1, 6};
        }
        const bool rounds = format == WeightFormat::kInt8;
        const ModelCheck check(weights.exact(format), tokens, {.int8_activations = rounds});
        const bool pooled = head.pooling != HeadPooling::kNone;
        const LanguageModel model = weights.make(format);
        const std::vector<float> logits = logits_of(model, tokens, pooled ? 1 : length);
        Quantity quantity(rounds ? "model, int8 heads" : "model, heads");
        std::size_t at = 0;
        for (const oracle::Trace& row : check.rows) {
          REQUIRE(row.logits.size() == to_size(pooled ? 1 : length));
          for (const std::vector<double>& exact : row.logits) {
            for (const double logit : exact) {
              quantity.add(static_cast<double>(logits.at(at++)), logit, check.bounds.logits,
                           rounds ? 0.0 : 1.0);
            }
          }
        }
        CHECK(at == logits.size());
        require_within(quantity);
      }
    }
  }
}

TEST_CASE(
    "LanguageModel: a head of rows has the same bits for any number of threads, and of a row alone",
    "[model][head][parallel]") {
  for (const Head& head : kHeads) {
    CAPTURE(head.name);
    const LanguageModelConfig c = config_of(head);
    const LanguageModel model = ModelWeights(c, 510).make();
    const ModelTokens tokens(c, 2, 9, 511);
    const Index rows = head.pooling == HeadPooling::kNone ? 9 : 1;
    ThreadPool pool(3);
    const std::vector<float> alone = logits_of(model, tokens, rows);
    CHECK(first_difference(alone, logits_of(model, tokens, rows, nullptr, &pool)) == "");
  }
}

TEST_CASE("LanguageModel: the last token of a conversation has classes", "[model][head]") {
  LanguageModelConfig c = config_of(kHeads[3]);
  c.max_length = 300;
  const LanguageModel model = ModelWeights(c, 520).make();
  const ModelTokens tokens(c, 1, 270, 521);
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  const std::vector<float> whole = logits_of(model, tokens, 1);
  CHECK(first_difference(whole, logits_of(model, tokens, 1, &session)) == "");
}

TEST_CASE("LanguageModel: what a head of classes cannot say is refused",
          "[model][head][bad-input]") {
  LanguageModelConfig c = config_of(kHeads[3]);
  c.head_pooling = HeadPooling::kFirst;
  const LanguageModel model = ModelWeights(c, 530).make();
  const ModelTokens tokens(c, 1, 5, 531);
  Workspace workspace;
  std::vector<float> numbers(100, kUntouched);
  LanguageModel::ForwardArgs args{.ids = {tokens.ids.data(), {1, 5}}};
  const auto refused = [&](const Status& status, StatusCode code, const char* what) {
    CAPTURE(what, status.message());
    CHECK(status.code() == code);
    CHECK(std::string(status.message()).find(what) != std::string::npos);
    CHECK(numbers == std::vector<float>(100, kUntouched));
  };
  args.surprisal = {numbers.data(), {1, 4}};
  refused(model.forward(args, workspace), StatusCode::kInvalidArgument, "surprisal is given");
  args.surprisal = {};
  args.logits = {numbers.data(), {1, 5, 12}};
  refused(model.forward(args, workspace), StatusCode::kShapeMismatch, "logits is [1,5,12]");
  args.logits = {numbers.data(), {1, 1, 12}};
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  args.session = &session;
  refused(model.forward(args, workspace), StatusCode::kInvalidArgument,
          "logits is given with a session");
  CHECK(session.length() == 0);
  args.session = nullptr;
  std::vector<double> parts(100, 1e9);
  refused(model.attribute({.pass = args,
                           .parts = {parts.data(), {c.num_layers, c.num_heads + 3}},
                           .rest = {parts.data() + 50, {3}}},
                          workspace),
          StatusCode::kUnsupported, "the head of the model transforms");
  refused(
      model.copying({.ids = {tokens.ids.data(), {5}}, .scores = {numbers.data(), {5, c.num_heads}}},
                    workspace),
      StatusCode::kUnsupported, "the head of the model transforms");
}

}  // namespace
}  // namespace qkv::test::language_model_head_test
