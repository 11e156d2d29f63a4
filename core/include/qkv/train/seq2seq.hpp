/// @file
/// Models that read one sequence and write another, in training.
#pragma once

#include <cstdint>
#include <utility>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/train/trainer.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// How the decoder learns of the source.
enum class Seq2SeqKind : std::uint8_t {
  kGru,  ///< through one vector: the encoder's last state (Cho et al. 2014; Sutskever et al. 2014)
  kGruAttention,  ///< through that, and attention over all states of the encoder (Bahdanau et al. 2015)
  kTransformer,  ///< through cross-attention alone (Vaswani et al. 2017)
};

/// The score of kGruAttention.
enum class Seq2SeqScore : std::uint8_t {
  kAdditive,  ///< v . tanh(W s + U h), qkv/train/additive_attention.hpp
  kDot,       ///< (W s) . (U h) / sqrt(d_model)
};

/// The sizes and the kind of a model. Source and target have one vocabulary.
struct Seq2SeqConfig {
  Seq2SeqKind kind = Seq2SeqKind::kTransformer;  ///< what it is made of
  Index vocabulary = 0;                          ///< at least 1
  Index d_model = 0;                             ///< width of embeddings and states, at least 1
  Index num_heads = 1;                           ///< of a transformer, a divisor of d_model
  Index num_layers = 1;      ///< of the encoder, and as many of the decoder; 1 to 65,536
  Index d_feed_forward = 0;  ///< of a transformer; 0 means blocks of attention alone
  Index max_length = 0;      ///< most tokens of a row, of source and target each
  Seq2SeqScore score = Seq2SeqScore::kAdditive;  ///< of kGruAttention
};

/// Rows of sources and, for each, what the decoder reads.
struct Seq2SeqTokens {
  TensorView<const std::int32_t> source;  ///< [B, S], dense, in [0, vocabulary)
  /// Tokens in use of each source, [B], 0 to S; absent means all. The rest is never read.
  TensorView<const std::int32_t> source_lengths = {};
  TensorView<const std::int32_t> ids;  ///< [B, T], dense: the target, one place to the right
};

/// What should be said after each token.
struct Seq2SeqBatch {
  Seq2SeqTokens tokens;                    ///< what the model reads
  TensorView<const std::int32_t> targets;  ///< [B, T], dense; -1 does not count
};

/// A model that translates, in training. With e the embedding (one for both sides), and num_layers times each unit or block:
///
///     kGru           h = gru(e[source]);  s = gru(e[ids]) from the last h of each source;  logits = s head
///     kGruAttention  the same with c_i = sum_j softmax_j(score(s_i, h_j)) h_j;  logits = (s Ws + c Wc + b) head
///     kTransformer   sinusoidal positions; pre-norm blocks, those of the decoder causal, with cross-attention;
///                    a norm at the end of each side
///
/// Attention is where Luong et al. 2015 (section 3.1) have it: the state s_i that says token i asks, and the states of
/// the decoder do not depend on what it has attended to before, so that all steps are computed at once.
///
/// The arrays: "embedding"; "encoder.n.gru.wx", "wh", "bx", "bh" and "decoder.n.gru...", "attention.wq", "wk", "v" (additive), "ws",
/// "wc", "b"; or the arrays of blocks as in LanguageModelTrainer, after "encoder.n." and "decoder.n.", with "normCross." and
/// "cross."; "encoderNorm", "decoderNorm"; "head" [d_model, V].
///
/// Every sum has one owner and a fixed order: threads change no bit of any weight.
class Seq2SeqTrainer {
 public:
  /// An empty trainer; every call on it is refused.
  Seq2SeqTrainer() noexcept = default;
  ~Seq2SeqTrainer();
  /// Move-only; the two change places.
  Seq2SeqTrainer(Seq2SeqTrainer&& other) noexcept { *this = std::move(other); }
  /// Likewise.
  Seq2SeqTrainer& operator=(Seq2SeqTrainer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(state_, other.state_);
    return *this;
  }

  /// Checks everything, then makes a model with initial weights, as LanguageModelTrainer::create(). On error `trainer` is as
  /// it was. Errors: kOutOfRange, kInvalidArgument (a value that is none of its enumeration), kOutOfMemory, kUnsupported.
  static Status create(const Seq2SeqConfig& config, const TrainerOptions& options,
                       Seq2SeqTrainer& trainer) noexcept;

  /// As those of LanguageModelTrainer, with its errors.
  Status step(const Seq2SeqBatch& batch, Workspace& workspace, StepResult& result) noexcept;
  /// Likewise.
  Status accumulate(const Seq2SeqBatch& batch, Workspace& workspace, Evaluation& result) noexcept;
  /// Likewise.
  Status evaluate(const Seq2SeqBatch& batch, Workspace& workspace, Evaluation& result) noexcept;
  /// Likewise.
  Status differentiate(const Seq2SeqBatch& batch, Workspace& workspace,
                       Evaluation& result) noexcept;

  /// Logits of what comes after each of tokens.ids, [B, T, V] dense; absent if not wanted. `weights` are those with which the
  /// decoder read the source, [layers, B, heads, T, S] in one dense block as [layers * B, heads, T, S]: of each block and
  /// head of a transformer, of one layer and head with kGruAttention. Absent if not wanted, and refused with kGru.
  /// Errors as step(); kInvalidArgument for arrays in the memory of another, here and in the calls below.
  Status forward(const Seq2SeqTokens& tokens, TensorView<float> logits, TensorView<float> weights,
                 Workspace& workspace) noexcept;

  /// What translate() reads and writes.
  struct Translation {
    TensorView<const std::int32_t> source;               ///< [B, S], dense
    TensorView<const std::int32_t> source_lengths = {};  ///< [B]; absent means all
    std::int32_t start = 0;                              ///< the token that the decoder reads first
    std::int32_t end = 0;                                ///< the token after which a row is over
    TensorView<std::int32_t> ids;                        ///< [B, most tokens], dense: what was said
    TensorView<std::int32_t> lengths;                    ///< [B]: tokens of each row, without `end`
  };
  /// Says the likeliest token, the first of equal ones, again and again, until every row has said `end` or has no room left. Places
  /// past a row's length get `end`. Errors as forward(), kOutOfRange for tokens that are none.
  Status translate(const Translation& args, Workspace& workspace) noexcept;

  /// How far a gradient reaches: the Frobenius norms of d h / d x_s, h the encoder's last state of one source ([S] tokens) and x_s
  /// the embedding of token s. `norms` is [S], by distance from the end: norms[0] is that of the last token.
  /// The gradients of arrays are no longer those of a step then.
  ///
  /// Error bound with u = 2^-24, against the norm of the derivatives as the backward pass has them in float32:
  ///
  ///     |norm - exact| <= u norm (1 + 2^-28 d_model^2) + 2^-150
  ///
  /// Their squares are exact in double and neither vanish nor overflow there; of d_model^2 in a sum each takes part in
  /// fewer additions than there are, the root halves what these lose, and the result is rounded once.
  Status reach(TensorView<const std::int32_t> source, TensorView<float> norms,
               Workspace& workspace) noexcept;

  /// As given to create().
  [[nodiscard]] const Seq2SeqConfig& config() const noexcept;
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
  /// Sets the number of steps made, 0 to 2^53 - 1, as that of LanguageModelTrainer. kOutOfRange for others.
  Status set_steps(std::int64_t steps) noexcept;

 private:
  struct State;
  AlignedBuffer memory_;    ///< where the state is
  State* state_ = nullptr;  ///< null when empty
};

}  // namespace qkv::train
