#include "train/trainers/evaluate.hpp"

#include "check/check.hpp"
#include "kernels/random.hpp"
#include "train/gradients/with_kernels.hpp"

namespace qkv::train {
namespace {

/// Seeds of dropout begin here, so that they meet no stream of initial weights.
constexpr std::uint64_t kDropoutSalt = 0x64726F706F757473U;

}  // namespace

Status refuse_empty(const Caller& caller) noexcept {
  return refuse(StatusCode::kInvalidArgument, caller,
                "the trainer is empty, expected one made by create()");
}

Status check_targets(const Caller& caller, const TensorView<const std::int32_t>& targets,
                     const TensorView<const std::int32_t>& ids, Index vocabulary) noexcept {
  QKV_RETURN_IF_ERROR(check_dense(caller, "targets", targets, {ids.extent(0), ids.extent(1)}));
  Index counted = 0;
  for (Index i = 0; i < targets.size(); ++i) {
    const std::int32_t target = targets.data[i];
    if (target < -1 || target >= vocabulary) {
      return refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected -1 or [0, {})",
                    Argument{"targets", i}, target, vocabulary);
    }
    counted += target >= 0 ? 1 : 0;
  }
  return counted > 0 ? Status{}
                     : refuse(StatusCode::kOutOfRange, caller,
                              "@targets are all -1, expected at least one that is not");
}

Status evaluate(const TapeRun& run, Workspace& workspace, Evaluation& result) noexcept {
  const TrainKernels& kernels = run.kernels;
  QKV_RETURN_IF_ERROR(run.tape->forward(kernels, run.inputs, workspace));
  const TapeArray& logits = (*run.tape)[run.logits];
  CrossEntropyArgs loss;
  loss.logits = {logits.value, {logits.rows, logits.width}};
  loss.targets = {run.targets.data, {logits.rows}};
  loss.d_logits = {logits.gradient, {logits.rows, logits.width}};
  CrossEntropy found;
  QKV_RETURN_IF_ERROR(cross_entropy(kernels, loss, found, workspace));
  if (run.learn) {
    QKV_RETURN_IF_ERROR(run.tape->backward(kernels, run.inputs, workspace));
  }
  result.loss = found.loss;
  result.accuracy = static_cast<double>(found.correct) / static_cast<double>(found.counted);
  result.counted = found.counted;
  return {};
}

Status make_step(const TapeRun& run, Learner& learner, Workspace& workspace,
                 StepResult& result) noexcept {
  QKV_RETURN_IF_ERROR(learner.check_room_for_step(run.caller));
  StepResult found;
  QKV_RETURN_IF_ERROR(evaluate(run, workspace, found.before));
  learner.average(found.before);
  QKV_RETURN_IF_ERROR(learner.update(run.caller, run.kernels, workspace.pool(), found));
  result = found;
  return {};
}

Status accumulate(const TapeRun& run, Learner& learner, Workspace& workspace,
                  Evaluation& result) noexcept {
  QKV_RETURN_IF_ERROR(learner.reserve_sums());
  Evaluation found;
  QKV_RETURN_IF_ERROR(evaluate(run, workspace, found));
  learner.accumulate(found);
  result = found;
  return {};
}

void set_dropout(const Learner& learner, bool training, TapeInputs& inputs) noexcept {
  inputs.dropout = training && learner.options().dropout > 0.0F;
  inputs.dropout_seed = kernels::mix_bits(learner.options().seed ^ kDropoutSalt) +
                        static_cast<std::uint64_t>(learner.steps());
  if (learner.accumulated() > 0) {  // each batch of a step drops others
    inputs.dropout_seed ^= kernels::mix_bits(static_cast<std::uint64_t>(learner.accumulated()));
  }
}

}  // namespace qkv::train
