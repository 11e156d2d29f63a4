#include "qkv/norm.hpp"

#include "check/check_elementwise.hpp"
#include "isa/isa_dispatch.hpp"

namespace qkv {
namespace {

using kernels::NormArgs;

/// The axes of `x` from `axis` on.
TensorView<const float> trailing(TensorView<const float> x, int axis) noexcept {
  TensorView<const float> part;
  part.rank = x.rank - axis;
  for (int i = axis; i < x.rank; ++i) {
    part.shape[static_cast<std::size_t>(i - axis)] = x.extent(i);
  }
  return part;
}

/// gamma or beta: [n] or the shape of the normalised axes.
Status check_parameter(const char* function, const char* name, TensorView<const float> parameter,
                       TensorView<const float> axes) noexcept {
  if (parameter.absent()) {
    return {};
  }
  if (parameter.rank == 1 && parameter.extent(0) == axes.size()) {
    return check_dense(function, name, parameter, {axes.size()});
  }
  return check_dense_like(function, name, parameter, axes);
}

/// Checks a call and fills `args`, whose n or rows may be 0.
Status plan(const char* function, TensorView<const float> x, TensorView<float> out,
            const NormOptions& options, NormArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_elementwise(function, x, out));
  int axis = options.axis;
  QKV_RETURN_IF_ERROR(resolve_axis(function, x.rank, axis));
  const TensorView<const float> axes = trailing(x, axis);
  QKV_RETURN_IF_ERROR(check_parameter(function, "gamma", options.gamma, axes));
  QKV_RETURN_IF_ERROR(check_parameter(function, "beta", options.beta, axes));
  QKV_RETURN_IF_ERROR(check_epsilon(function, "epsilon", options.epsilon));
  QKV_RETURN_IF_ERROR(
      check_apart(function, {{"out", out}}, {{"gamma", options.gamma}, {"beta", options.beta}}));
  args.n = axes.size();
  args.rows = x.size() == 0 ? 0 : x.size() / args.n;
  args.x = x.data;
  args.out = out.data;
  args.gamma = options.gamma.absent() ? nullptr : options.gamma.data;
  args.beta = options.beta.absent() ? nullptr : options.beta.data;
  args.epsilon = options.epsilon;
  return {};
}

Status normalize(const char* function, const NormArgs& args) noexcept {
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(function, table));
  table->normalize(args);
  return {};
}

}  // namespace

Status layer_norm(TensorView<const float> x, TensorView<float> out,
                  const NormOptions& options) noexcept {
  NormArgs args{};
  QKV_RETURN_IF_ERROR(plan("layer_norm", x, out, options, args));
  args.centre = true;
  return normalize("layer_norm", args);
}

Status rms_norm(TensorView<const float> x, TensorView<float> out,
                const NormOptions& options) noexcept {
  if (!options.beta.absent()) {
    return refuse(StatusCode::kInvalidArgument, "rms_norm",
                  "@beta is {}, expected none: RMS normalisation has no beta",
                  Extents(options.beta));
  }
  NormArgs args{};
  QKV_RETURN_IF_ERROR(plan("rms_norm", x, out, options, args));
  args.centre = false;
  return normalize("rms_norm", args);
}

}  // namespace qkv
