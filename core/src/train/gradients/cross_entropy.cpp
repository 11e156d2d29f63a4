#include <algorithm>
#include <cmath>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check.hpp"
#include "qkv/train/softmax.hpp"
#include "train/gradients/with_kernels.hpp"

namespace qkv::train {
namespace {

constexpr const char* kCrossEntropy = "cross_entropy";

Status check(const CrossEntropyArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_dense(kCrossEntropy, "logits", args.logits, {kAny, kAny}));
  const Index rows = args.logits.extent(0);
  const Index classes = args.logits.extent(1);
  QKV_RETURN_IF_ERROR(check_dense(kCrossEntropy, "targets", args.targets, {rows}));
  QKV_RETURN_IF_ERROR(check_dense(kCrossEntropy, "d_logits", args.d_logits, {rows, classes}));
  if (!(args.label_smoothing >= 0.0F && args.label_smoothing <= 1.0F)) {
    return refuse(StatusCode::kOutOfRange, kCrossEntropy, "@label_smoothing is {}, expected [0, 1]",
                  args.label_smoothing);
  }
  for (Index i = 0; i < rows; ++i) {
    const std::int32_t target = args.targets.data[i];
    if (target != args.ignore_index && (target < 0 || target >= classes)) {
      return refuse(StatusCode::kOutOfRange, kCrossEntropy, "{} is {}, expected [0, {}) or {}",
                    Argument{"targets", i}, target, classes, args.ignore_index);
    }
  }
  const TensorView<const float> none;
  return check_apart(kCrossEntropy, {{"d_logits", args.d_logits}},
                     {{"logits", args.d_logits.data == args.logits.data ? none : args.logits},
                      {"targets", args.targets}});
}

/// What the kernel writes for each row, in the workspace.
struct RowResults {
  double* losses;
  std::int32_t* targets;  ///< -1 where a target does not count
  bool* correct;
};

}  // namespace

Status cross_entropy(const CrossEntropyArgs& args, CrossEntropy& found,
                     Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kCrossEntropy, kernels));
  return cross_entropy(kernels, args, found, workspace);
}

Status cross_entropy(const TrainKernels& kernels, const CrossEntropyArgs& args, CrossEntropy& found,
                     Workspace& workspace) noexcept {
  QKV_RETURN_IF_ERROR(check(args));
  const Index rows = args.logits.extent(0);
  const auto count = static_cast<std::size_t>(rows);
  QKV_RETURN_IF_ERROR(workspace.begin(
      capped_sum({Workspace::padded_as<double>(count), Workspace::padded_as<std::int32_t>(count),
                  Workspace::padded_as<bool>(count)})));
  RowResults to{};
  to.losses = workspace.take_as<double>(count);
  to.targets = workspace.take_as<std::int32_t>(count);
  to.correct = workspace.take_as<bool>(count);
  CrossEntropy result;
  for (Index i = 0; i < rows; ++i) {
    const std::int32_t target = args.targets.data[i];
    to.targets[i] = target == args.ignore_index ? -1 : target;
    result.counted += target == args.ignore_index ? 0 : 1;
  }
  // Of none the mean is 0.
  const auto divisor = static_cast<double>(std::max<Index>(1, result.counted));
  const Index classes = args.logits.extent(1);
  const Index grain = std::max<Index>(1, kShareElements / std::max<Index>(1, classes));
  share(workspace.pool(), rows, grain, [&](Index begin, Index end) noexcept {
    kernels.backward->cross_entropy({.rows = end - begin,
                                     .classes = classes,
                                     .logits = args.logits.data + begin * classes,
                                     .targets = to.targets + begin,
                                     .smoothing = args.label_smoothing,
                                     .factor = 1.0F / static_cast<float>(divisor),
                                     .d_logits = args.d_logits.data + begin * classes,
                                     .losses = to.losses + begin,
                                     .correct = to.correct + begin});
  });
  for (Index i = 0; i < rows; ++i) {
    result.loss += to.losses[i];
    result.correct += to.correct[i] ? 1 : 0;
  }
  result.loss /= divisor;
  found = result;
  return {};
}

}  // namespace qkv::train
