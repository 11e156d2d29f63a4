/// @file
/// Language models that are trained.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "qkv/language_model.hpp"
#include "qkv/language_model_config.hpp"
#include "qkv/model_sites.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/train/trainer.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// Rows of tokens.
struct TokenBatch {
  TensorView<const std::int32_t>
      ids;  ///< [B, T], dense, in [0, vocabulary); B at least 1, T 1 to max_length
  /// Tokens of each row that are read, [B], 0 to T; absent means all.
  TensorView<const std::int32_t> key_lengths = {};
  /// [B, T], dense, in [0, token_types) of a config that has some; absent means 0.
  TensorView<const std::int32_t> token_types = {};
};

/// Rows of tokens, and what should follow each.
struct LanguageBatch {
  TokenBatch tokens;                       ///< what the model reads
  TensorView<const std::int32_t> targets;  ///< [B, T], dense; -1 does not count
};

/// Maps of a layer that adapters can change.
enum class AdaptedMap : std::uint8_t { kWq, kWk, kWv, kWo, kW1, kWGate, kW2 };

/// Adapters of low rank (LoRA, Hu et al. 2021): a map x W + b of a model becomes
///
///     x W + b + (alpha / rank) (x A) B        A [in, rank], B [rank, out]
///
/// and A and B are trained alone.
struct AdapterConfig {
  Index rank = 8;       ///< at least 1
  float alpha = 16.0F;  ///< finite, > 0
  /// Which maps of every layer, each once; those that the model lacks are refused. Absent: kWq and kWv.
  std::span<const AdaptedMap> maps = {};
  float dropout =
      0.0F;  ///< rate at which numbers of x that go into A are dropped in training, in [0, 1)
};

/// What to read of one layer beside the logits. Absent views cost nothing.
struct LayerReading {
  Index layer = 0;                  ///< counted from 0
  TensorView<float> weights = {};   ///< [B, num_heads, T, T]: of attention
  TensorView<float> entropy = {};   ///< [B, num_heads, T]: of the rows of weights, in nats
  TensorView<float> residual = {};  ///< [B, T, d_model]: the stream after this layer
  /// [B, num_heads, T, d_k]: queries as the scores read them, after the norms of qk_norm and the rotation
  TensorView<float> q = {};
  TensorView<float> k = {};  ///< [B, num_kv_heads, T, d_k]: keys, likewise
  TensorView<float> v = {};  ///< [B, num_kv_heads, T, d_k], values
};

/// A language model in training:
///
///     x = scale embedding[ids], + tokenTypes[type], + positions[t] with kLearned and kSinusoidal, norm() with embedding_norm
///     kPre:  x = x + attention(norm1(x));  x = x + feed_forward(norm2(x))          each layer
///     kPost: x = norm1(x + attention(x));  x = norm2(x + feed_forward(x))
///     kAfter: x = x + postNorm1(attention(x));  x = x + postNorm2(feed_forward(x))
///     h = norm(x), x itself with kPost;   h = f(h W + b), then norm(h) with head_norm       with head_transform
///     logits = h head + headBias;         c tanh(logits / c)                               with logit_softcap = c
///
/// with parallel_residual both parts of a layer read the same x, and without d_feed_forward the second is left out.
/// Attention is causal unless the config says otherwise. The parts are those of the operators; their gradients are those of
/// qkv/train. A loss is the mean over targets that count (cross_entropy()); a step clips the gradient by its global norm and is
/// one of adamw_step().
///
/// The arrays, in the order of array(), matrices as [in, out]: "embedding" [V, d_model]; "tokenTypes" [token_types, d_model];
/// "positions" [max_length, d_model] with kLearned; "embeddingNorm.gamma", ".beta"; of layer n, after "layers.n.": "norm1.gamma",
/// "norm1.beta", "attention.wq", "bq", "wk", "bk", "wv", "bv", "qGamma", "kGamma" (and "qBeta", "kBeta" where layer norms have
/// biases), "wo", "bo", "postNorm1.gamma", ".beta", "norm2.gamma", "norm2.beta", "feedForward.w1", "b1", "wGate", "bGate", "w2",
/// "b2", "postNorm2.gamma", ".beta"; "norm.gamma", "norm.beta"; "headTransform.w", "headTransform.b", "headTransform.norm.gamma",
/// ".beta"; "head" [d_model, V] unless embeddings are tied, "headBias". Those exist that the config asks for.
///
/// Slopes: of the softcap 1 - tanh(logit / c)^2, in double precision and rounded once; of the squared relu 2 max(x, 0), exactly.
///
/// Every sum has one owner and a fixed order: threads change no bit of any weight, however many steps.
class LanguageModelTrainer {
 public:
  /// An empty trainer; every call on it is refused.
  LanguageModelTrainer() noexcept = default;
  ~LanguageModelTrainer();
  /// Move-only; the two change places.
  LanguageModelTrainer(LanguageModelTrainer&& other) noexcept { *this = std::move(other); }
  /// Likewise.
  LanguageModelTrainer& operator=(LanguageModelTrainer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(state_, other.state_);
    return *this;
  }

  /// Checks everything, then makes a model with initial weights: normal numbers of options.deviation, gains of 1, biases
  /// of 0. On error `trainer` is as it was.
  /// Errors: kOutOfRange (sizes below 1, more layers than 65,536, heads that do not divide, numbers outside what the options say), kInvalidArgument
  /// (a value that is none of its enumeration, parallel_residual with kPost, rotary options without meaning), kOutOfMemory,
  /// kUnsupported.
  static Status create(const LanguageModelConfig& config, const TrainerOptions& options,
                       LanguageModelTrainer& trainer) noexcept;

  /// A trainer of adapters of a model. The model stays as it is, in the format that it has, and its memory is read where it is: it
  /// must live as long as the trainer is used; it may be moved. B begins at 0, so that the trainer's model says what `base` says; A has
  /// normal numbers of options.deviation. Products with the weights are in float32, with the weights as they are kept: rows of
  /// numbers are not rounded to 8 bits as LanguageModel::forward() does with kInt8 and kInt4. Of these formats 4 MB of
  /// weights are unpacked at a time, or 32 rows of a matrix with more than 2^15 outputs.
  ///
  /// The arrays are, for each layer and map in the order of AdaptedMap, "layers.n.attention.wq.loraA" and ".loraB".
  ///
  /// Errors: as create() for what the train library has no gradients of, kInvalidArgument (an empty or unfinished model, a map that is
  /// none or is there twice), kOutOfRange (numbers of `adapters`), kUnsupported (a map that the model lacks; a model of other kernels).
  static Status adapt(const LanguageModel& base, const AdapterConfig& adapters,
                      const TrainerOptions& options, LanguageModelTrainer& trainer) noexcept;

  /// A trainer of all weights that begins with those of a model, as float32 copies: `base` may go. Errors as create(), and
  /// kInvalidArgument for an empty or unfinished model.
  static Status create_from(const LanguageModel& base, const TrainerOptions& options,
                            LanguageModelTrainer& trainer) noexcept;

  /// Array i of the model under the adapters, as LanguageModel::array() counts them, as float32: [in, out] of a map, [rows, width] of a
  /// table, [n]. Maps have their adapters added: W + (alpha / rank) A B, the sum of a number in double precision, rounded once.
  /// Errors: kInvalidArgument (a trainer without adapters, null data, strides), kOutOfRange (i), kShapeMismatch, kOutOfMemory.
  Status read_merged(Index i, TensorView<float> to) const noexcept;

  /// Forward, loss, backward, clipping and AdamW. On error weights, moments and the number of steps are as they were.
  /// Errors: kInvalidArgument (null data, arrays that are not dense, a gradient whose norm is not below 2^64 after clipping: its
  /// square would not fit in the second moments), kShapeMismatch, kOutOfRange
  /// (an id or a target that is none, a length, more tokens than max_length, no target that counts; of step() 2^53 - 1 steps made), kOutOfMemory,
  /// kUnsupported (adapters of a model that was created for other kernels than those that are active).
  Status step(const LanguageBatch& batch, Workspace& workspace, StepResult& result) noexcept;

  /// Forward, loss and backward of a batch that belongs to the next step: step() then takes the gradient of the mean loss over the
  /// targets of all these batches and its own, as if they were one ("gradient accumulation"). `result` is of this batch, as of
  /// step(). Takes memory for one more copy of the gradients. set_steps() forgets what was added; a step()
  /// that is refused keeps it. Errors as step().
  Status accumulate(const LanguageBatch& batch, Workspace& workspace, Evaluation& result) noexcept;

  /// How well the model predicts a batch, without dropout. Errors as step().
  Status evaluate(const LanguageBatch& batch, Workspace& workspace, Evaluation& result) noexcept;

  /// The gradients of the loss alone, without a step; array() has them. Errors as step().
  Status differentiate(const LanguageBatch& batch, Workspace& workspace,
                       Evaluation& result) noexcept;

  /// Logits of the next token after each, [B, T, V] dense (absent if not wanted), and what the readings ask for.
  /// Errors as step(); kOutOfRange for a layer that is none, kInvalidArgument for arrays in the memory of another.
  Status forward(const TokenBatch& tokens, TensorView<float> logits,
                 std::span<const LayerReading> readings, Workspace& workspace) noexcept;

  /// What logit_gradients() reads and writes.
  struct LogitArgs {
    TokenBatch tokens = {};  ///< as forward()
    Index batch = 0;         ///< the row of the batch
    Index row = -1;          ///< the token of that row; below 0: the last
    Index answer = 0;        ///< the token whose logit counts
    Index instead = -1;      ///< the token whose logit is subtracted; below 0: none
    std::span<const ModelReading> activations = {};  ///< what is read of the pass
    std::span<const ModelReading> gradients = {};    ///< whose gradients are written
  };

  /// The difference of two logits of the token after one, and how it changes with activations of the same pass, without dropout:
  ///
  ///     value = logits[batch, row, answer] - logits[batch, row, instead]
  ///     gradients = d value / d x          for the numbers x of each site, all others before it held fixed
  ///
  /// Sites, shapes and layers are those of ModelReading; their gradients have the shapes of the sites. There are kEmbed, kQ, kK, kV, kZ,
  /// kAttention, kMiddle, kNeurons, kFeedForward, kResidual and kFinal. With the activations x' of another pass, the sum of (x' - x)
  /// d value / d x estimates what putting x' in the place of x would do to the value ("attribution patching", Nanda 2023): for all sites
  /// by one pass there and back. Without `gradients` there is no pass back. The gradients of arrays stay those of the last step.
  ///
  /// Errors as forward(); kOutOfRange for a batch, row or token that is none, kUnsupported for a site that is none of these or that the
  /// model lacks, kInvalidArgument for arrays in the memory of another, a site of a layer that is requested twice. On error nothing is
  /// written.
  Status logit_gradients(const LogitArgs& args, Workspace& workspace, double& value) noexcept;

  /// The view of a reading of these tokens in dense memory at `to`. Nothing is checked.
  [[nodiscard]] TensorView<float> reading_view(const TokenBatch& tokens,
                                               const ModelReading& reading,
                                               float* to) const noexcept;

  /// As given to create(), with every size filled in.
  [[nodiscard]] const LanguageModelConfig& config() const noexcept;
  /// Steps made.
  [[nodiscard]] std::int64_t steps() const noexcept;
  /// Numbers that are trained.
  [[nodiscard]] Index parameter_count() const noexcept;
  /// How many arrays there are, and each of them.
  [[nodiscard]] Index array_count() const noexcept;
  /// Precondition: 0 <= i < array_count().
  [[nodiscard]] TrainedArray array(Index i) const noexcept;

  /// What a step changes besides the weights. To resume a run, set all arrays, all moments and the number of steps.
  /// Precondition: 0 <= i < array_count().
  [[nodiscard]] Moments moments(Index i) noexcept;
  /// Sets the number of steps made, 0 to 2^53 - 1: every count has a double of its own, in which files keep it. kOutOfRange
  /// for others.
  Status set_steps(std::int64_t steps) noexcept;

 private:
  struct State;
  Status make_state() noexcept;
  static Status create_as(const char* caller, const LanguageModelConfig& config,
                          const TrainerOptions& options, LanguageModelTrainer& trainer) noexcept;
  AlignedBuffer memory_;    ///< where the state is
  State* state_ = nullptr;  ///< null when empty
};

}  // namespace qkv::train
