/// @file
/// Language models that were trained: GPT-2, GPT-NeoX, Llama, Mistral, Qwen, Gemma, BERT and models like them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "qkv/language_model_config.hpp"
#include "qkv/linear.hpp"
#include "qkv/model_session.hpp"
#include "qkv/model_sites.hpp"
#include "qkv/number_format.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

struct ModelAccess;
struct ModelState;
struct RunningPass;

/// One of a model's arrays of weights.
struct ModelArray {
  const char* name;  ///< as "layers.0.attention.wq"; valid as long as the model
  /// 2 for matrices and tables, 1 for gains and biases.
  int rank;
  /// [in, out] of a linear map, [rows, d_model] of a table of embeddings, [n] of a gain or bias.
  Index shape[2];
  Index filled;  ///< elements that fill() was given, of the product of `shape`
  NumberType type = NumberType::kF32;  ///< of the numbers that read() gives
  Index rows = 0;       ///< that read() gives: a map has one for each output, a gain or bias one
  Index row_bytes = 0;  ///< bytes of each of them
};

/// Rows of numbers, as they lie in a file.
struct ModelRows {
  NumberType type = NumberType::kF32;  ///< of the elements
  const void* data = nullptr;          ///< the first row; any alignment
  Index count = 0;                     ///< rows
  Index row_bytes = 0;                 ///< bytes from one row to the next
  /// kOutIn: a row has the weights of one output, `in` of them; kInOut: of one input, `out` of them. Of maps only: rows of
  /// tables are as they are, and gains and biases are one row.
  WeightLayout layout = WeightLayout::kInOut;
  /// binary16, with NumberType::kInt8, at any address: a scale for every block of 32 inputs. Row r of kOutIn reads those at
  /// scales + r * scale_stride; with kInOut rows 32 i to 32 i + 31 share those at scales + i * scale_stride, one for each
  /// output.
  const void* scales = nullptr;
  Index scale_stride = 0;  ///< elements; of no matter where a single row of scales is read
  /// A number x of the file stands for (x + plus) factor, in double precision and rounded once: gains that files keep less 1, and
  /// factors of a family that go into its weights. Blocks are then not kept as they are.
  double plus = 0.0;
  double factor = 1.0;  ///< see plus
};

/// A language model for inference:
///
///     x = scale embedding[ids], + tokenTypes[type], + positions[t] with kLearned and kSinusoidal, norm() with embedding_norm
///     kPre:  x = x + attention(norm1(x));  x = x + feed_forward(norm2(x))          each layer
///            with an encoder between the two: x = x + cross(normCross(x), e)       e: the last stream of the encoder
///     kPost: x = norm1(x + attention(x));  x = norm2(x + feed_forward(x))
///     kAfter: x = x + postNorm1(attention(x));  x = x + postNorm2(feed_forward(x))
///     logits = softcap(t(norm(x)) head + headBias)                                 without the norm with kPost
///     t(h) = norm'(f(h W + b)) with head_transform, else h; with head_pooling of one row for each row of the batch
///
/// with parallel_residual both parts of a layer read the same x, with post_norms what they give is normalised before it is
/// added, and without d_feed_forward the second is left out. The parts are those of the operators: attention(), rotary_embedding(),
/// layer_norm() and rms_norm(), activate(), linear(). A trainer's model of the same config and weights gives the
/// same numbers (within the bounds of the parts; the train library keeps its own order of sums).
///
/// The arrays, in the order of array(): those of train::LanguageModelTrainer by the same names and of the same shapes, and besides
/// "tokenTypes" [token_types, d_model], "embeddingNorm.gamma", ".beta" and "relativeBias" [relative_buckets, num_heads] after the
/// embeddings, "layers.n.postNorm1.gamma" and "layers.n.postNorm2.gamma" (with ".beta" where layer norms have biases) after the
/// sub-layers, "headTransform.w" [d_model, d_model], ".b", ".norm.gamma" and ".norm.beta" before the head, and "headBias" [V] after it; with
/// `classes` the head is [d_model, N] and its bias [N]. With an encoder there are "layers.n.normCross.gamma" and "layers.n.cross.wq" to ".wo"
/// before norm2, and after all others the arrays of the encoder, as "encoder.relativeBias", "encoder.layers.n.norm1.gamma" and
/// "encoder.norm.gamma"; both read one embedding. With num_experts a layer has
/// "feedForward.router" [d_model, E] and "feedForward.experts.e.w1", ".wGate" and ".w2" in place of "feedForward.w1" and the others. With kAfter
/// there is no norm1 and no norm2, without first_norm no
/// "layers.0.norm1". Matrices and the embedding are kept in the format given to create(); everything else is float32.
///
/// Memory: the weights in their format, once; tied embeddings are not kept twice; with relative_buckets also num_heads
/// biases for each distance below max_length, once for all layers. A model is filled once, then
/// never changed: threads may share it, each with a workspace and sessions of its own.
class LanguageModel {
 public:
  /// An empty model; every call on it is refused.
  LanguageModel() noexcept = default;
  ~LanguageModel();
  /// Move-only; the two change places.
  LanguageModel(LanguageModel&& other) noexcept { *this = std::move(other); }
  /// Likewise.
  LanguageModel& operator=(LanguageModel&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(state_, other.state_);
    return *this;
  }

  /// Checks the config and takes the memory of all arrays, which fill() then fills. On error `model` is as it was.
  /// `formats` may have a format for each array, in the order of array(), in place of `format`; those of arrays that stay
  /// float32 are of no matter. So a file of several types keeps them.
  /// Errors: those of train::LanguageModelTrainer::create() for the config; kInvalidArgument (a value that is no WeightFormat,
  /// post_norms or first_norm = false without kPre, causal without head, head_bias, head_transform, head_pooling or classes without a head, head_norm without head_transform, classes with tied_embeddings, symmetric_window
  /// with causal, relative_buckets with kAlibi), kShapeMismatch (windows, rotations), kOutOfRange, kOutOfMemory, kUnsupported.
  static Status create(const LanguageModelConfig& config, WeightFormat format, LanguageModel& model,
                       std::span<const WeightFormat> formats = {}) noexcept;

  /// How many arrays there are.
  [[nodiscard]] Index array_count() const noexcept;
  /// What is known of one. Precondition: 0 <= i < array_count().
  [[nodiscard]] ModelArray array(Index i) const noexcept;

  /// Gives array i its next rows, in order from the first to the last; the layout may not change on the way. Numbers are
  /// converted to the array's format: exactly where it holds them, else rounded to the nearest (bfloat16), or, in blocks of 32
  /// inputs, to d round(w / d) with d = float16(max |w| / 127), rounded up below 2^-14: within d / 2. Blocks of kQ8_0,
  /// kQ5_0 and kIq4Nl go into int8 as they are. The threads of `pool`, if there is one, share the rows of a matrix; the result has the same bits for any number.
  /// Errors: kInvalidArgument (null data, a type, layout or scales without meaning, quantised numbers that are no whole blocks along
  /// the inputs, a scale that is not finite; for int8 a weight that is not, or is 8.3e6 or more
  /// in magnitude; a filled model), kOutOfRange (no such array, more rows than are left, rows or a
  /// stride of scales too short; with kInOut and int8 a count that is no multiple of 32 before the end). On error the array is
  /// as it was.
  Status fill(Index i, const ModelRows& rows, ThreadPool* pool = nullptr) noexcept;

  /// Rows [first, first + count) of array i as they are kept, one after another: fill() of a model of the same formats takes
  /// them back without a change, with WeightLayout::kOutIn. Matrices and the embedding of kInt8 are kQ8_0, those of kInt4 kQ4_1.
  /// Errors: kInvalidArgument (an empty model, null data), kOutOfRange (no such array or rows). On error nothing is written.
  Status read(Index i, Index first, Index count, void* to) const noexcept;

  /// Says that all arrays are filled; only then can the model be used. kInvalidArgument names the first that is not.
  Status finish() noexcept;

  /// What encode() reads and writes.
  struct EncodeArgs {
    TensorView<const std::int32_t> source;  ///< [B, S] ids, dense, in [0, V): all of them are read
    ModelSession* session = nullptr;        ///< whose tokens then attend to them
    std::span<const ModelReading> readings =
        {};                                 ///< of the encoder's layers; as those of forward()
    std::span<const ModelEdit> edits = {};  ///< likewise
  };

  /// Runs the encoder on a source, and computes the keys and values of every cross-attention from what it gives, once for all
  /// tokens that follow. An earlier source is replaced. The error bound is that of forward(). Everything is checked, and all memory
  /// taken, before anything is computed: on error the session is as it was.
  ///
  /// Errors: kInvalidArgument (null data, strides, an empty or unfinished model, one without an encoder, no session or one of
  /// another model), kShapeMismatch, kOutOfRange (an id, more tokens than the source_capacity, a session that holds tokens),
  /// kOutOfMemory, kUnsupported.
  Status encode(const EncodeArgs& args, Workspace& workspace) const noexcept;

  /// What forward() reads and writes.
  struct ForwardArgs {
    TensorView<const std::int32_t> ids;  ///< [B, T], dense, in [0, V); B and T at least 1
    TensorView<const std::int32_t> token_types =
        {};  ///< [B, T], in [0, token_types); absent means 0
    /// Tokens of each row that are read, [B], 0 to T; absent means all. Not with a session.
    TensorView<const std::int32_t> key_lengths = {};
    /// The tokens follow those that it holds, and are added to it. With an encoder there must be one that has a source.
    ModelSession* session = nullptr;
    /// In place of `session`: B sessions of batch 1, each once, for each row of ids its own. They may hold different numbers of tokens; a
    /// row attends to what its own session holds, and all rows go through the linear maps together, so that weights are read once.
    /// Each row has the bits that it has alone with its session. Without readings, edits, lenses and `begin`.
    std::span<ModelSession* const> sessions = {};
    /// Of every token: [B, T, V]; or of the last of each row alone: [B, 1, V]. May be absent.
    TensorView<float> logits = {};
    /// [B, T, d_model], or [B, 1, d_model]: the stream after the last norm. May be absent.
    TensorView<float> hidden = {};
    /// [B, T - 1]: -ln of the probability of each next token, in nats. May be absent.
    TensorView<float> surprisal = {};
    std::span<const ModelReading> readings = {};  ///< each site of a layer at most once
    std::span<const ModelEdit> edits = {};   ///< edits of one site act in the order of the list
    std::span<const ModelLens> lenses = {};  ///< each layer at most once
    /// Where the pass begins. With a session and a layer above 0 the session afterwards holds what it held before: its layers
    /// below have no keys of these tokens. token_types must then be absent, and nothing below the layer be read or edited.
    ModelBegin begin = {};
  };

  /// One pass over all layers. Everything is checked, and all memory taken, before anything is computed: on error nothing
  /// is written, and a session keeps its length and contents in every layer.
  ///
  /// Error bound: none in closed form, since errors of one layer go through the norms, the softmax and the weights of all that
  /// follow. Measured, for models of 2 or 3 layers of every family with random weights: let M be the largest difference that
  /// a result of exact arithmetic on the weights that are kept has from itself when every result of a linear map is moved at
  /// random by up to the bound of linear(), 2^-24 (in + 2) (sum_i |x_i| |W_ij| + |b_j|). With WeightFormat::kInt8 rows are
  /// moved before they enter maps, too, by up to 1/126 of the largest number of their block of 32; with a cache of bfloat16
  /// its keys and values by up to 2^-8 of themselves. Then, for every result,
  ///
  ///     |computed - exact| <= 3 M + 2^-22
  ///
  /// and so for what is read at a site, but for kEmbed, which no map comes before: 2^-20 max(1, |exact|).
  /// With a session and more than 240 tokens the pass is made in pieces of 240 tokens, so that scratch does not grow with T.
  /// Threads change no bit, and neither do readings. Heads whose scores or weights are edited are computed row by row in double
  /// precision, which is within the bound; all others keep their bits.
  ///
  /// Errors: kInvalidArgument (null data, strides, a site that is none of this family or cannot be edited, an edit that changes
  /// nothing, a site of a layer that is read twice, an empty or unfinished model, an empty session, a session of another model or
  /// for an encoder, no session or one without a source where there is an encoder, key_lengths with a session, `sessions` with `session`, with one of
  /// another batch, with one twice or with readings, token_types, logits or
  /// surprisal without a table or head for them, results that share memory), kShapeMismatch, kOutOfRange (an id, type, length, layer or head that is none, more tokens than max_length or
  /// than the session has room for, a session whose layers hold different numbers of tokens), kOutOfMemory, kUnsupported (a site that the model lacks, other kernels than those of create() of model or session).
  Status forward(const ForwardArgs& args, Workspace& workspace) const noexcept;

  /// What attribute() reads and writes.
  struct AttributeArgs {
    /// The pass, as forward() takes it, with its edits and results but without readings and lenses.
    ForwardArgs pass = {};
    Index batch = 0;     ///< the row of the batch
    Index row = -1;      ///< the token, of this call; below 0: the last
    Index answer = 0;    ///< the token whose logit is taken apart
    Index instead = -1;  ///< the token whose logit is subtracted; below 0: none
    /// [num_layers, num_heads + 3], dense: of each layer what each head gives, then what else its attention adds, then
    /// cross-attention, then the feed-forward sub-layer. Zeros where there is none, and in layers below pass.begin.
    TensorView<double> parts;
    /// [3]: what the embedding gives (the stream before the first layer that is computed), the rest, and the total.
    TensorView<double> rest;
  };

  /// How much of a logit, or of the difference of two, each part of the stream gives at one token ("direct logit attribution", Elhage et
  /// al. 2021), with the scales of this pass held fixed. With h the stream after the last norm, W the head and b its bias,
  ///
  ///     total = h . (W_answer - W_instead) + b_answer - b_instead        before the softcap
  ///
  /// A norm y = gamma (x - mean x) / sigma + beta (RMS norm without mean) is linear once sigma is held, so a direction g after it is
  /// g' = gamma g / sigma (less its mean) before it. So the direction goes down through the last norm, and with kPost through every
  /// norm, and with g where a part joins the stream,
  ///
  ///     feed-forward, cross: g . what is added        head h: z_h W_O,h . g, with post_norms and kAfter through that norm
  ///     attention: g . what it adds, less its heads: its bias, that of the norm, and what quantised rows round
  ///     embedding: g . stream before the first layer
  ///     rest: the beta of norms on the way, the head's bias, edits of the stream itself, and what its sums round
  ///
  /// All sums are in double precision over the float32 numbers of the pass and the weights as they are kept. All parts and the rest add up to the
  /// total within 2^-51 (n + 8) S, with n = (num_layers + 2) max(d_model, num_heads d_k) and S the sum of |g_i x_i| of all these products. The total is the
  /// logit of forward() within the bound of linear(), or of its format.
  ///
  /// Errors: those of forward(); kInvalidArgument (readings or lenses in `pass`, a model without a head), kShapeMismatch, kOutOfRange
  /// (batch, row, answer, instead). On error nothing is written.
  Status attribute(const AttributeArgs& args, Workspace& workspace) const noexcept;

  /// What copying() reads and writes.
  struct CopyingArgs {
    Index layer = 0;                     ///< whose heads are requested
    TensorView<const std::int32_t> ids;  ///< [n], the tokens that are read
    /// [n, d_model], dense: the stream where they stand; absent: their rows of the embedding, scaled and normalised as the model does
    /// it, without positions.
    TensorView<const float> stream = {};
    TensorView<float> scores;  ///< [n, num_heads], dense
  };

  /// Whether a head makes what it reads likelier: the place of the token's own logit among all V of
  ///
  ///     l = c(x W_V,h W_O,h) W_U        x: the stream, through the norm before attention where there is one
  ///
  /// as 1 - 2 r / (V - 1), r the number of greater logits and half of those that are equal: 1 if it is the greatest, -1 if it is the least
  /// (Elhage et al. 2021, "copying"). Maps are without their biases; c takes the mean away and multiplies by gamma for the norm on what
  /// attention adds and for the last norm, where there are any: their scales change no place. Norms of kPost are left out. The
  /// logits of 16 rows are held at a time.
  /// Errors: kInvalidArgument (null data, strides, shared memory, an empty or unfinished model, one without a head),
  /// kShapeMismatch, kOutOfRange (an id, the layer), kOutOfMemory, kUnsupported.
  Status copying(const CopyingArgs& args, Workspace& workspace) const noexcept;

  /// The view of a reading of these rows in dense memory at `to`, for a call with these ids and session. Nothing is checked.
  [[nodiscard]] TensorView<float> reading_view(const ForwardArgs& args, const ModelReading& reading,
                                               float* to) const noexcept;

  /// Bytes of workspace that forward() takes with so many threads; 0 for arguments that it refuses. Which kernels are active
  /// does not count here.
  [[nodiscard]] std::size_t forward_scratch_bytes(const ForwardArgs& args,
                                                  int threads = 1) const noexcept;

  /// As given to create(), with every size filled in.
  [[nodiscard]] const LanguageModelConfig& config() const noexcept;
  /// As given to create().
  [[nodiscard]] WeightFormat format() const noexcept;
  /// Numbers in all arrays.
  [[nodiscard]] std::int64_t parameter_count() const noexcept;
  /// Bytes of all arrays.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  friend class ModelSession;
  friend struct ModelAccess;
  Status check(const ForwardArgs& args) const noexcept;
  Status make_room(const ForwardArgs& args, Workspace& workspace) const noexcept;
  Status check_session(const char* caller, const ModelSession& session) const noexcept;
  Status check_source(const EncodeArgs& args) const noexcept;
  Status prepare(const ForwardArgs& args, Workspace& workspace, RunningPass& pass) const noexcept;
  void run(const ForwardArgs& args, Workspace& workspace, RunningPass& pass) const noexcept;
  AlignedBuffer memory_;         ///< where the state is
  ModelState* state_ = nullptr;  ///< null when empty
};

}  // namespace qkv
