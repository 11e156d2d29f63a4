// A computation that is written down once and then run forward and backward: arrays, and the steps that make one of
// another. Models are recorded on a tape; operators do the arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "base/list.hpp"
#include "isa/train_dispatch.hpp"
#include "qkv/activation.hpp"
#include "qkv/attention.hpp"
#include "qkv/linear.hpp"
#include "qkv/norm.hpp"
#include "qkv/rotary.hpp"
#include "qkv/status.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// The number of an array of a tape.
using ArrayId = Index;
inline constexpr ArrayId kNoArray = -1;

/// Rows of floats: what a step reads or writes.
struct TapeArray {
  /// Where its numbers come from, and whether they have a gradient.
  enum class Kind : std::uint8_t {
    kParameter,  ///< memory of the model's: trained
    kConstant,   ///< memory of the tape's, filled once
    kBorrowed,   ///< memory of somebody else's, which is only read
    kValue,      ///< memory of the tape's, written by a step
  };
  Kind kind = Kind::kValue;
  Index rows = 0, width = 0;
  float* value = nullptr;
  float* gradient = nullptr;  ///< null for constants and what is borrowed
  ArrayId gradient_of =
      kNoArray;          ///< the array whose gradient memory it uses: its own, or another's
  Index offset = 0;      ///< of value and gradient in the tape's memory, in floats
  Index made_by = -1;    ///< the step that writes it; -1 for parameters and constants
  bool touched = false;  ///< while planning: a later step has written its gradient

  [[nodiscard]] Index size() const noexcept { return rows * width; }
  /// Whether its numbers are in the tape's memory.
  [[nodiscard]] bool is_own() const noexcept {
    return kind == Kind::kConstant || kind == Kind::kValue;
  }
};

/// What changes from one run of a tape to the next.
struct TapeInputs {
  const std::int32_t* ids = nullptr;         ///< of the tokens, one for each row
  const std::int32_t* source_ids = nullptr;  ///< those of the sources, in models that translate
  const std::int32_t* types = nullptr;       ///< of the tokens, in models that tell types apart
  TensorView<const std::int32_t> key_lengths =
      {};  ///< tokens in use of each batch row; absent means all
  TensorView<const std::int32_t> source_lengths = {};  ///< of each source; likewise
  bool dropout = false;                                ///< whether dropout drops, as in training
  std::uint64_t dropout_seed = 0;                      ///< of this run
  bool activations_alone = false;  ///< whether gradients of parameters stay as they are
};

/// Which of the two inputs of a model that translates a step is about; all others have targets alone.
enum class Side : std::uint8_t { kTarget, kSource };

/// Whose rows of a table are read: those of the tokens of a side, or of their types.
enum class TokenIds : std::uint8_t { kTarget, kSource, kTypes };

/// Heads of an attention step, and its options but for what TapeInputs holds.
struct TapeAttention {
  Index batch = 0;  ///< rows of sequences
  Index heads = 0, kv_heads = 0;
  Side keys_of = Side::kTarget;  ///< whose lengths count
  ArrayId slopes = kNoArray;     ///< options.alibi_slopes, a constant of the tape
  AttentionOptions options = {};
};

struct Operation;

// What single operations have beside their inputs.
struct EmbedStep {
  TokenIds ids;
  float factor;  ///< on the rows of the table
};
struct LinearStep {
  WeightLayout layout;
};
struct NormStep {
  NormType type;
  float epsilon;
};
/// Of activations and gates.
struct ActivationStep {
  Activation function;
};
struct DropoutStep {
  float rate;
  std::uint64_t site;  ///< which place of dropout of the model
};
struct RotateStep {
  Index heads;
  RotaryOptions options;
};
struct AttendStep {
  TapeAttention attention;
  std::uint64_t site;
};
struct MultiplyStep {
  const PackedLinear* map;
};
struct LookUpStep {
  const PackedLinear* table;
  float factor;
};
struct ScaleStep {
  float factor;
};
struct CapStep {
  float most;  ///< what numbers stay below in size
};
struct LastStateStep {
  Side side;  ///< whose lengths
};

/// One operation on a tape.
struct Step {
  static constexpr int kMostInputs = 6;
  /// How the backward pass writes the gradient of an input.
  enum class Write : std::uint8_t {
    kSkip,    ///< it has none
    kFirst,   ///< nobody has written it yet
    kAdd,     ///< added to what is there
    kShared,  ///< it is the gradient of the output, in the same memory
  };

  const Operation* operation = nullptr;
  std::array<ArrayId, kMostInputs> in = {kNoArray, kNoArray, kNoArray,
                                         kNoArray, kNoArray, kNoArray};
  std::array<Write, kMostInputs> writes = {};
  bool reached = false;  ///< whether the gradient of the output depends on the loss at all
  ArrayId out = kNoArray;
  ArrayId saved = kNoArray;  ///< what the forward pass keeps for the backward pass
  Index batch = 1;           ///< rows of sequences, where rows belong to sequences
  std::variant<std::monostate, EmbedStep, LinearStep, NormStep, ActivationStep, DropoutStep,
               RotateStep, AttendStep, MultiplyStep, LookUpStep, ScaleStep, CapStep, LastStateStep>
      of;

  /// What the operation has, of its own type.
  template <class T>
  [[nodiscard]] const T& as() const noexcept {
    return *std::get_if<T>(&of);
  }
};

class Tape;

/// A step in one run: what it reads and writes.
struct Pass {
  const Tape& tape;
  const Step& step;
  const TapeInputs& inputs;
  const TrainKernels& kernels;
  Workspace& workspace;

  [[nodiscard]] const TapeArray& in(int i) const noexcept;
  [[nodiscard]] bool has(int i) const noexcept;
  [[nodiscard]] const TapeArray& out() const noexcept;
  [[nodiscard]] const TapeArray& saved() const noexcept;
  /// Whether the gradient of an input is written, and how.
  [[nodiscard]] Step::Write write(int i) const noexcept;
  /// Where the gradient of an input goes; null where none is written or it shares that of the output.
  [[nodiscard]] float* gradient(int i) const noexcept;
  /// The same as a view of `rows` x `width`; absent where the pointer is null.
  [[nodiscard]] TensorView<float> gradient_view(int i) const noexcept;
};

/// How a step runs forward and backward.
struct Operation {
  using Run = Status (*)(const Pass&) noexcept;
  Run forward;
  Run backward;
  bool passes_gradient = false;  ///< the gradient of inputs 0 and 1 is that of the output
};

/// Arrays and steps. Recording never fails at once: plan() tells what went wrong.
class Tape {
 public:
  /// Forgets arrays and steps and keeps memory.
  void clear() noexcept;
  /// A parameter, with memory of the caller's.
  ArrayId parameter(Index rows, Index width, float* value, float* gradient) noexcept;
  /// An array that is only read, in memory of the caller's.
  ArrayId borrowed(Index rows, Index width, const float* value) noexcept;
  /// An array that plan() leaves to the caller to fill.
  ArrayId constant(Index rows, Index width) noexcept;
  /// Records a step whose output has this shape, and `saved` if it keeps as many floats.
  ArrayId record(Step step, Index rows, Index width, Index saved = 0) noexcept;
  /// Records a step that makes of one array another one of its shape.
  ArrayId record_alike(const Operation& operation, ArrayId x, decltype(Step::of) of = {}) noexcept {
    Step step;
    step.operation = &operation;
    step.in[0] = x;
    step.of = of;
    return record(step, rows(x), width(x));
  }

  /// Takes the memory of all arrays and decides how gradients add up. `seed` is the array whose gradient the backward pass
  /// starts from.
  Status plan(ArrayId seed) noexcept;

  /// Runs all steps. On error what arrays hold is unspecified, but for parameters.
  Status forward(const TrainKernels& kernels, const TapeInputs& inputs,
                 Workspace& workspace) const noexcept;
  /// Runs all steps back from the gradient of `seed`, and writes the gradient of every parameter.
  Status backward(const TrainKernels& kernels, const TapeInputs& inputs,
                  Workspace& workspace) const noexcept {
    return backward(kernels, inputs, workspace, [](ArrayId) noexcept {});
  }
  /// The same, and calls complete(id) when the gradient of the array that a step writes is whole: later the memory may be that of
  /// another.
  template <class Complete>
  Status backward(const TrainKernels& kernels, const TapeInputs& inputs, Workspace& workspace,
                  const Complete& complete) const noexcept {
    for (Index at = steps_.size() - 1; at >= 0; --at) {
      if (steps_[at].reached) {
        complete(steps_[at].out);
        QKV_RETURN_IF_ERROR(step_back(steps_[at], {*this, steps_[at], inputs, kernels, workspace}));
      }
    }
    return {};
  }

  [[nodiscard]] const TapeArray& operator[](ArrayId id) const noexcept { return arrays_[id]; }
  /// What the step that writes this array has saved. Precondition: there is one, and it has saved something.
  [[nodiscard]] const float* saved_of(ArrayId id) const noexcept {
    return arrays_[step_of(id).saved].value;
  }
  /// The step that writes an array. Precondition: there is one.
  [[nodiscard]] const Step& step_of(ArrayId id) const noexcept {
    return steps_[arrays_[id].made_by];
  }
  /// The shape of an array; 1 where there is none, because recording has failed.
  [[nodiscard]] Index rows(ArrayId id) const noexcept { return exists(id) ? arrays_[id].rows : 1; }
  [[nodiscard]] Index width(ArrayId id) const noexcept {
    return exists(id) ? arrays_[id].width : 1;
  }
  /// Where a gradient is put that is then added to another.
  [[nodiscard]] float* scratch(const Step& step, int input) const noexcept;

 private:
  Status step_back(const Step& step, const Pass& pass) const noexcept;
  [[nodiscard]] bool exists(ArrayId id) const noexcept { return id >= 0 && id < arrays_.size(); }
  ArrayId add(const TapeArray& array) noexcept;
  void plan_gradients(ArrayId seed) noexcept;
  Step::Write plan_input(Index at, int input) noexcept;
  [[nodiscard]] bool may_share(Index at, int input) const noexcept;
  Status take_memory() noexcept;

  List<TapeArray> arrays_;
  List<Step> steps_;
  AlignedBuffer values_, gradients_, scratch_;
  Status status_;
};

// The operations, in tape_steps.cpp, tape_activations.cpp, tape_attention.cpp and tape_frozen.cpp. Each takes the arrays that it reads, and gives the one it writes.

/// Rows of `table` by TapeInputs::ids, times `factor`.
ArrayId embed(Tape& tape, ArrayId table, Index rows, float factor,
              TokenIds ids = TokenIds::kTarget) noexcept;
/// x + the first rows of `table`, once for each batch row.
ArrayId add_positions(Tape& tape, ArrayId x, ArrayId table, Index batch) noexcept;
/// x + y.
ArrayId add(Tape& tape, ArrayId x, ArrayId y) noexcept;
/// x W + b; b may be kNoArray.
ArrayId linear(Tape& tape, ArrayId x, ArrayId w, ArrayId b, WeightLayout layout) noexcept;
/// x W + b with a matrix of a model, which is not trained: in float32, with the weights as they are kept.
ArrayId multiply(Tape& tape, ArrayId x, const PackedLinear& map) noexcept;
/// Rows of the embedding of a model, which is not trained, by TapeInputs::ids, times `factor`.
ArrayId look_up(Tape& tape, const PackedLinear& table, Index rows, float factor) noexcept;
/// x times `factor`.
ArrayId scale(Tape& tape, ArrayId x, float factor) noexcept;
/// layer_norm() or rms_norm() over pieces of as many elements as gamma has; beta may be kNoArray.
ArrayId norm(Tape& tape, ArrayId x, ArrayId gamma, ArrayId beta, NormType type,
             float epsilon) noexcept;
/// f(x).
ArrayId activation(Tape& tape, ArrayId x, Activation f) noexcept;
/// f(x) y, f one of those of gate_backward().
ArrayId gate(Tape& tape, ArrayId x, ArrayId y, Activation f) noexcept;
/// max(x, 0)^2.
ArrayId square_relu(Tape& tape, ArrayId x) noexcept;
/// c tanh(x / c) with c = `most`, above 0.
ArrayId cap(Tape& tape, ArrayId x, float most) noexcept;
/// x with elements set to 0 at this rate and the others divided by 1 - rate, in training; x itself at rate 0.
ArrayId dropout(Tape& tape, ArrayId x, float rate, std::uint64_t site) noexcept;
/// rotary_embedding() of heads side by side.
ArrayId rotate(Tape& tape, ArrayId x, Index batch, Index heads,
               const RotaryOptions& options) noexcept;
/// attention() of heads side by side. Its options name a rate of dropout, `site` the place.
ArrayId attend(Tape& tape, ArrayId q, ArrayId k, ArrayId v, const TapeAttention& attention,
               std::uint64_t site) noexcept;

/// Queries, keys and values as [B, H, T, d].
struct AttendedHeads {
  TensorView<const float> q, k, v;
};

/// What the attention that wrote `attended` read in the run before.
AttendedHeads heads_read(const Tape& tape, ArrayId attended) noexcept;

/// What `extras` asks for of the attention that wrote `attended`, in the run before: it is computed once more, with the
/// same options, and the array gets the numbers that it has.
Status read_attention(const TrainKernels& kernels, const Tape& tape, ArrayId attended,
                      const TapeInputs& inputs, const AttentionExtras& extras,
                      Workspace& workspace) noexcept;

/// The arrays of a GRU: wx [in, 3 hidden], wh [hidden, 3 hidden], bx and bh [3 hidden].
struct GruArrays {
  ArrayId wx = kNoArray, wh = kNoArray, bx = kNoArray, bh = kNoArray;
};
/// gru() over the tokens of each batch row, from h0 [B, hidden] or, without one, from 0.
ArrayId recur(Tape& tape, ArrayId x, const GruArrays& weights, ArrayId h0, Index batch) noexcept;
/// Of each batch row, the row of x at its last token in use: [B, width]. One that uses none gets 0.
ArrayId last_state(Tape& tape, ArrayId x, Index batch, Side side) noexcept;
/// projected_additive_attention() of queries q over sources: keys k, the score's v, and values. The weights are saved.
ArrayId attend_additively(Tape& tape, ArrayId q, ArrayId k, ArrayId v, ArrayId values,
                          Index batch) noexcept;

}  // namespace qkv::train
