// The arrays of a model that is trained, and the optimizer's.
#pragma once

#include <cstdint>

#include "base/list.hpp"
#include "base/message.hpp"
#include "isa/train_dispatch.hpp"
#include "models/for_each_array.hpp"
#include "qkv/train/trainer.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// Parameters, gradients and moments, in one block of memory.
class Learner {
 public:
  struct Array {
    char name[kMostArrayName];
    Index rows, width;  ///< rows is 0 for gains and biases
    ArrayRole role;
    Index offset;  ///< in each of the four parts of the memory
    [[nodiscard]] Index size() const noexcept { return rows == 0 ? width : rows * width; }
  };

  /// Declares an array. `rows` is 0 for vectors. Returns its number; when there is no memory for it, create() says so.
  Index declare(const ArrayPlace& place, const char* name, Index rows, Index width,
                ArrayRole role) noexcept;
  /// Takes the memory of all arrays and fills them with initial weights, array i from stream i of the seed.
  Status create(const Caller& caller, const TrainerOptions& options, Index layers) noexcept;

  /// Takes the memory of sums of gradients.
  Status reserve_sums() noexcept;
  /// Adds the gradients of a batch, times its targets, to those of others. Precondition: reserve_sums().
  void accumulate(const Evaluation& found) noexcept;
  /// Gradients and `found`, which are of one batch, become those of this batch and all that were added, as if they were one.
  void average(Evaluation& found) noexcept;
  /// Batches that were added since the last step.
  [[nodiscard]] std::int64_t accumulated() const noexcept { return batches_; }

  /// Whether there is a number for one more step.
  [[nodiscard]] Status check_room_for_step(const Caller& caller) const noexcept;
  /// Clips, and makes a step of AdamW, on the threads of `pool` if there is one. Refuses a gradient that is not finite, and changes
  /// nothing then.
  Status update(const Caller& caller, const TrainKernels& kernels, ThreadPool* pool,
                StepResult& result) noexcept;

  [[nodiscard]] Index count() const noexcept { return arrays_.size(); }
  [[nodiscard]] const Array& array(Index i) const noexcept { return arrays_[i]; }
  [[nodiscard]] Index parameters() const noexcept { return total_; }
  [[nodiscard]] float* value(Index i) const noexcept { return part(0, i); }
  [[nodiscard]] float* gradient(Index i) const noexcept { return part(1, i); }
  [[nodiscard]] Moments moments(Index i) const noexcept { return {part(2, i), part(3, i)}; }
  [[nodiscard]] TrainedArray view(Index i) const noexcept;
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }
  Status set_steps(const Caller& caller, std::int64_t steps) noexcept;
  [[nodiscard]] const TrainerOptions& options() const noexcept { return options_; }

 private:
  [[nodiscard]] float* part(Index which, Index i) const noexcept {
    return memory_.data() + which * total_padded_ + arrays_[i].offset;
  }

  List<Array> arrays_;
  List<Parameter> parameters_;
  AlignedBuffer memory_;
  TrainerOptions options_;
  Index total_ = 0, total_padded_ = 0;
  std::int64_t steps_ = 0;
  AlignedBuffer sums_;        ///< of gradients, each times the targets of its batch
  Evaluation summed_;         ///< of all batches that were added
  std::int64_t batches_ = 0;  ///< that were added
  Status status_;
};

/// Numbers of TrainerOptions that have no meaning.
Status check_trainer_options(const Caller& caller, const TrainerOptions& options) noexcept;

}  // namespace qkv::train
