#include "qkv/positional.hpp"

#include <algorithm>
#include <cmath>

#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "positions/angles.hpp"
#include "positions/sinusoidal.hpp"

namespace qkv {
namespace {

Status check_base(const char* function, double base) noexcept {
  if (std::isfinite(base) && base >= 1.0) {
    return {};
  }
  return refuse(StatusCode::kInvalidArgument, function,
                "@base is {}, expected a finite number of at least 1", base);
}

Status check_layout(const char* function, SinusoidLayout layout) noexcept {
  if (layout <= SinusoidLayout::kConcatenated) {
    return {};
  }
  return refuse(StatusCode::kInvalidArgument, function,
                "@layout is {}, expected a value of SinusoidLayout", layout);
}

Status check_positions(const char* function, const char* name, Index first, Index last) noexcept {
  if (first >= -kMaxPosition && last <= kMaxPosition) {
    return {};
  }
  return refuse(StatusCode::kOutOfRange, function,
                "{} reaches {}, expected at most {} in magnitude", name,
                last > kMaxPosition ? last : first, kMaxPosition);
}

Status check_width(const char* function, Index d_model) noexcept {
  if (d_model >= 1) {
    return {};
  }
  return refuse(StatusCode::kShapeMismatch, function, "@d_model is {}, expected at least 1",
                d_model);
}

/// Columns of the sine and the cosine of pair i.
struct Columns {
  Index sine, cosine;
};
Columns columns(Index i, Index d_model, SinusoidLayout layout) noexcept {
  return layout == SinusoidLayout::kInterleaved ? Columns{2 * i, 2 * i + 1}
                                                : Columns{i, (d_model + 1) / 2 + i};
}

/// By k positions, of pair i.
Rotation shift_rotation(Index k, Index i, Index d_model, double base) noexcept {
  return rotation(static_cast<double>(k) * frequency(i, static_cast<double>(d_model), base));
}

using kernels::SinusoidArgs;

/// Frequencies [first, first + kPairs) of a table. Those past its end are formed like the others, so that
/// the kernel has whole rows to work on, and written nowhere. Steps of one frequency at a time: those of all would be 20 kB
/// of a stack, which has 64 in WebAssembly.
class SinusoidColumns {
 public:
  SinusoidColumns(Index first, Index d_model, double base) noexcept {
    for (Index n = 0; n < SinusoidArgs::kPairs; ++n) {
      frequencies_[n] = frequency(first + n, static_cast<double>(d_model), base);
      anchors_[n] = AngleAnchors(frequencies_[n]);
    }
  }

  /// The rotations of the steps from their anchors of `count` rows from position p on.
  void steps(Index p, Index count, SinusoidArgs::Row* rows) const noexcept {
    for (Index n = 0; n < SinusoidArgs::kPairs; ++n) {
      AngleSteps column(frequencies_[n]);
      for (Index r = 0; r < count; ++r) {
        const Index step = (p + r) & (kAnchorRows - 1);
        const Rotation by = column.step(step);
        rows[step].sine[n] = by.sine;
        rows[step].cosine[n] = by.cosine;
      }
    }
  }

  /// The rotations of p's anchor.
  void anchor(Index p, SinusoidArgs::Row& row) noexcept {
    for (Index n = 0; n < SinusoidArgs::kPairs; ++n) {
      const Rotation at = anchors_[n].anchor(p);
      row.sine[n] = at.sine;
      row.cosine[n] = at.cosine;
    }
  }

 private:
  double frequencies_[SinusoidArgs::kPairs];
  AngleAnchors anchors_[SinusoidArgs::kPairs];
};

}  // namespace

// The encoding's own rotation property computes it: the row of position p is the row of its anchor, the
// multiple of 64 below, turned by the step from there, in double precision. Anchors are absolute, so a
// row does not depend on where a table starts.
Status sinusoidal_encoding(const kernels::KernelTable& kernels, TensorView<float> table,
                           Index offset, const SinusoidOptions& options) noexcept {
  constexpr const char* kName = "sinusoidal_encoding";
  QKV_RETURN_IF_ERROR(check_dense(kName, "table", table, {kAny, kAny}));
  const Index length = table.extent(0);
  const Index d_model = table.extent(1);
  QKV_RETURN_IF_ERROR(check_width(kName, d_model));
  QKV_RETURN_IF_ERROR(check_base(kName, options.base));
  QKV_RETURN_IF_ERROR(check_layout(kName, options.layout));
  QKV_RETURN_IF_ERROR(check_positions(kName, "@offset", offset, offset));
  const Index end = detail::saturated_sum(offset, length);
  QKV_RETURN_IF_ERROR(check_positions(kName, "@offset + @length", offset, end - 1));

  const bool interleaved = options.layout == SinusoidLayout::kInterleaved;
  const Index sines = d_model / 2 + d_model % 2;
  const Index cosines = d_model / 2;
  constexpr Index kPairs = SinusoidArgs::kPairs;
  for (Index first = 0; length > 0 && first < sines; first += kPairs) {
    SinusoidColumns angles(first, d_model, options.base);
    SinusoidArgs::Row steps[kAnchorRows];
    angles.steps(offset, length < kAnchorRows ? length : kAnchorRows, steps);
    const auto [sine, cosine] = columns(first, d_model, options.layout);
    SinusoidArgs args{};
    args.spread = interleaved ? 2 : 1;
    args.stride = d_model;
    args.sines = std::min(kPairs, sines - first);
    args.cosines = std::clamp(cosines - first, Index{0}, kPairs);
    for (Index row = 0; row < length; row += args.rows) {
      const Index step = (offset + row) & (kAnchorRows - 1);
      args.rows = std::min(kAnchorRows - step, length - row);
      args.steps = steps + step;
      args.sine = table.data + row * d_model + sine;
      args.cosine = table.data + row * d_model + cosine;
      angles.anchor(offset + row, args.anchor);
      kernels.sinusoid_rows(args);
    }
  }
  return {};
}

Status sinusoidal_encoding(TensorView<float> table, Index offset,
                           const SinusoidOptions& options) noexcept {
  const kernels::KernelTable* kernels = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels("sinusoidal_encoding", kernels));
  return sinusoidal_encoding(*kernels, table, offset, options);
}

Status sinusoidal_shift_blocks(TensorView<float> blocks, Index k, Index d_model,
                               const SinusoidOptions& options) noexcept {
  constexpr const char* kName = "sinusoidal_shift_blocks";
  QKV_RETURN_IF_ERROR(check_width(kName, d_model));
  QKV_RETURN_IF_ERROR(check_dense(kName, "blocks", blocks, {d_model / 2 + d_model % 2, 2, 2}));
  QKV_RETURN_IF_ERROR(check_base(kName, options.base));
  QKV_RETURN_IF_ERROR(check_layout(kName, options.layout));
  QKV_RETURN_IF_ERROR(check_positions(kName, "@k", k, k));
  for (Index i = 0; 2 * i < d_model; ++i) {
    const auto [s, c] = shift_rotation(k, i, d_model, options.base);
    float* block = blocks.data + 4 * i;
    block[0] = block[3] = static_cast<float>(c);
    block[1] = static_cast<float>(s);
    block[2] = static_cast<float>(-s);
  }
  return {};
}

Status sinusoidal_shift_matrix(TensorView<float> matrix, Index k,
                               const SinusoidOptions& options) noexcept {
  constexpr const char* kName = "sinusoidal_shift_matrix";
  const Index d_model = matrix.rank == 2 ? matrix.extent(0) : kAny;
  QKV_RETURN_IF_ERROR(check_dense(kName, "matrix", matrix, {d_model, d_model}));
  QKV_RETURN_IF_ERROR(check_width(kName, d_model));
  QKV_RETURN_IF_ERROR(check_base(kName, options.base));
  QKV_RETURN_IF_ERROR(check_layout(kName, options.layout));
  QKV_RETURN_IF_ERROR(check_positions(kName, "@k", k, k));
  if (d_model % 2 != 0) {
    return refuse(
        StatusCode::kUnsupported, kName,
        "@d_model is {}, expected an even number: the last sine of an odd encoding has no "
        "cosine, so no matrix shifts it (the blocks do)",
        d_model);
  }
  for (Index i = 0; i < matrix.size(); ++i) {
    matrix.data[i] = 0.0F;
  }
  for (Index i = 0; 2 * i < d_model; ++i) {
    const auto [s, c] = shift_rotation(k, i, d_model, options.base);
    const auto [sine, cosine] = columns(i, d_model, options.layout);
    *matrix.at(sine, sine) = *matrix.at(cosine, cosine) = static_cast<float>(c);
    *matrix.at(sine, cosine) = static_cast<float>(s);
    *matrix.at(cosine, sine) = static_cast<float>(-s);
  }
  return {};
}

}  // namespace qkv
