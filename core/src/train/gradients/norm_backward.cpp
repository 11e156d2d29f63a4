#include <algorithm>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check_elementwise.hpp"
#include "train/gradients/with_kernels.hpp"

namespace qkv::train {
namespace {

/// Rows whose gradients of gamma and beta are summed together: a fixed number, so that threads change no
/// bit.
constexpr Index kPartialRows = 64;

Status check(const char* name, const NormBackwardArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_rank(name, "x", args.x.rank));
  QKV_RETURN_IF_ERROR(check_dense_like(name, "x", args.x, args.x));
  QKV_RETURN_IF_ERROR(check_dense_like(name, "d_out", args.d_out, args.x));
  QKV_RETURN_IF_ERROR(check_dense_like(name, "dx", args.dx, args.x));
  const Index n = args.x.extent(args.x.rank - 1);
  QKV_RETURN_IF_ERROR(check_dense_if_given(name, "gamma", args.gamma, {n}));
  QKV_RETURN_IF_ERROR(check_dense_if_given(name, "d_gamma", args.d_gamma, {n}));
  QKV_RETURN_IF_ERROR(check_dense_if_given(name, "d_beta", args.d_beta, {n}));
  QKV_RETURN_IF_ERROR(check_epsilon(name, "epsilon", args.epsilon));
  return check_apart(name, {{"dx", args.dx}, {"d_gamma", args.d_gamma}, {"d_beta", args.d_beta}},
                     {{"d_out", args.d_out}, {"x", args.x}, {"gamma", args.gamma}});
}

/// to[0:n] = the sum of `count` partial sums.
void combine(const float* partials, Index count, Index n, float* to) noexcept {
  std::fill_n(to, n, 0.0F);
  for (Index c = 0; c < count; ++c) {
    for (Index i = 0; i < n; ++i) {
      to[i] += partials[c * n + i];
    }
  }
}

constexpr const char* kLayerNorm = "layer_norm_backward";
constexpr const char* kRmsNorm = "rms_norm_backward";

}  // namespace

Status norm_backward(const TrainKernels& kernels, NormType type, const NormBackwardArgs& args,
                     Workspace& workspace) noexcept {
  const bool centre = type == NormType::kLayer;
  if (!centre && !args.d_beta.absent()) {
    return refuse(StatusCode::kInvalidArgument, kRmsNorm,
                  "@d_beta is {}, expected none: RMS normalisation has no beta",
                  Extents(args.d_beta));
  }
  QKV_RETURN_IF_ERROR(check(centre ? kLayerNorm : kRmsNorm, args));
  const Index n = args.x.extent(args.x.rank - 1);
  const Index rows = n == 0 ? 0 : args.x.size() / n;
  const Index parts = (rows + kPartialRows - 1) / kPartialRows;
  const std::size_t floats = capped_product(parts, n);
  QKV_RETURN_IF_ERROR(workspace.begin(capped_product(2, Workspace::padded(floats))));
  float* gammas = args.d_gamma.absent() ? nullptr : workspace.take(floats);
  float* betas = args.d_beta.absent() ? nullptr : workspace.take(floats);
  for_each_task(parts > 1 ? workspace.pool() : nullptr, parts, [&](Index part, int) noexcept {
    const Index first = part * kPartialRows;
    kernels::NormBackwardArgs to{};
    to.norm.rows = std::min(kPartialRows, rows - first);
    to.norm.n = n;
    to.norm.x = args.x.data + first * n;
    to.norm.gamma = args.gamma.absent() ? nullptr : args.gamma.data;
    to.norm.epsilon = args.epsilon;
    to.norm.centre = centre;
    to.d_out = args.d_out.data + first * n;
    to.dx = args.dx.data + first * n;
    for (float** sums : {&gammas, &betas}) {
      if (*sums) {
        std::fill_n(*sums + part * n, n, 0.0F);
      }
    }
    to.d_gamma = gammas ? gammas + part * n : nullptr;
    to.d_beta = betas ? betas + part * n : nullptr;
    kernels.backward->normalize_backward(to);
  });
  if (!args.d_gamma.absent()) {
    combine(gammas, parts, n, args.d_gamma.data);
  }
  if (!args.d_beta.absent()) {
    combine(betas, parts, n, args.d_beta.data);
  }
  return {};
}

Status layer_norm_backward(const NormBackwardArgs& args, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kLayerNorm, kernels));
  return norm_backward(kernels, NormType::kLayer, args, workspace);
}

Status rms_norm_backward(const NormBackwardArgs& args, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kRmsNorm, kernels));
  return norm_backward(kernels, NormType::kRms, args, workspace);
}

}  // namespace qkv::train
