// An encoder of one layer learns reversal: at each place, the token of the mirrored place. It has to know places for that, and reads
// the one token that matters: the program prints where its heads look in the end.
#include <qkv/train/language_model.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr qkv::Index kVocabulary = 32, kLength = 16, kBatch = 32, kHeads = 4;
constexpr int kSteps = 100;

/// Rows of random tokens, and the same rows from their end.
class Rows {
 public:
  Rows(qkv::Index count, std::uint32_t seed) : count_(count), random_(seed) {}

  /// Makes other rows, in the same memory.
  qkv::train::LanguageBatch next() {
    ids_.clear();
    targets_.clear();
    for (qkv::Index row = 0; row < count_; ++row) {
      // The numbers of std::mt19937 are the same everywhere, those of distributions are not.
      for (qkv::Index t = 0; t < kLength; ++t) {
        ids_.push_back(static_cast<std::int32_t>(random_() % kVocabulary));
      }
      targets_.insert(targets_.end(), ids_.rbegin(), ids_.rbegin() + kLength);
    }
    return {.tokens = {.ids = {ids_.data(), {count_, kLength}}},
            .targets = {targets_.data(), {count_, kLength}}};
  }

 private:
  qkv::Index count_;
  std::mt19937 random_;
  std::vector<std::int32_t> ids_, targets_;
};

/// The place of the largest of so many numbers.
int largest(const float* numbers, qkv::Index count) {
  return static_cast<int>(std::max_element(numbers, numbers + count) - numbers);
}

qkv::Status train(qkv::train::LanguageModelTrainer& trainer, qkv::Workspace& workspace) {
  Rows rows(kBatch, 1), held_out(256, 2);
  const qkv::train::LanguageBatch judged = held_out.next();
  for (int step = 1; step <= kSteps; ++step) {
    qkv::train::StepResult result;
    if (qkv::Status status = trainer.step(rows.next(), workspace, result); !status.ok()) {
      return status;
    }
    if (step % 20 > 0) {
      continue;
    }
    qkv::train::Evaluation found;
    if (qkv::Status status = trainer.evaluate(judged, workspace, found); !status.ok()) {
      return status;
    }
    std::printf("step %3d: loss %.2f, %.0f %% of new rows right\n", step, result.before.loss,
                100 * found.accuracy);
  }
  return {};
}

/// What the trained model makes of one row, and which place each head reads most at each place.
qkv::Status show(qkv::train::LanguageModelTrainer& trainer, qkv::Workspace& workspace) {
  Rows rows(1, 3);
  const qkv::train::TokenBatch row = rows.next().tokens;
  std::vector<float> numbers(kLength * kVocabulary), read(kHeads * kLength * kLength);
  const qkv::TensorView<float> logits(numbers.data(), {1, kLength, kVocabulary});
  const qkv::train::LayerReading first = {.layer = 0,
                                          .weights = {read.data(), {1, kHeads, kLength, kLength}}};
  if (qkv::Status status = trainer.forward(row, logits, {&first, 1}, workspace); !status.ok()) {
    return status;
  }
  std::printf("read:  ");
  for (qkv::Index t = 0; t < kLength; ++t) {
    std::printf(" %2d", *row.ids.at(0, t));
  }
  std::printf("\nsaid:  ");
  for (qkv::Index t = 0; t < kLength; ++t) {
    std::printf(" %2d", largest(logits.at(0, t), kVocabulary));
  }
  for (qkv::Index head = 0; head < kHeads; ++head) {
    std::printf("\nhead %d:", static_cast<int>(head));
    for (qkv::Index t = 0; t < kLength; ++t) {
      std::printf(" %2d", largest(first.weights.at(0, head, t), kLength));
    }
  }
  std::printf("\n");
  return {};
}

qkv::Status run() {
  qkv::LanguageModelConfig config;
  config.vocabulary = kVocabulary;
  config.num_layers = 1;
  config.d_model = 64;
  config.num_heads = kHeads;
  config.max_length = kLength;
  config.causal = false;  // it may read what follows
  qkv::train::TrainerOptions options;
  options.seed = 1;
  options.schedule.peak = 3e-3F;
  options.deviation = 0.08F;
  qkv::train::LanguageModelTrainer trainer;
  if (qkv::Status status = qkv::train::LanguageModelTrainer::create(config, options, trainer);
      !status.ok()) {
    return status;
  }
  qkv::Workspace workspace;  // kept: only the first step allocates
  if (qkv::Status status = train(trainer, workspace); !status.ok()) {
    return status;
  }
  return show(trainer, workspace);
}

}  // namespace

int main() {
  const qkv::Status status = run();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message());
  }
  return status.ok() ? 0 : 1;
}
