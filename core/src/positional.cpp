#include "qkv/positional.hpp"

#include <cmath>

#include "check.hpp"

namespace qkv {
namespace {

/// Rows whose angles are built from one anchor row; see sinusoidal_encoding.
constexpr Index kAnchorRows = 64;

Status check_base(const char* function, double base) noexcept {
  if (std::isfinite(base) && base >= 1.0) {
    return {};
  }
  return Status::error(StatusCode::kInvalidArgument,
                       "%s: base is %g, expected a finite number of at least 1", function, base);
}

Status check_layout(const char* function, SinusoidLayout layout) noexcept {
  if (layout <= SinusoidLayout::kConcatenated) {
    return {};
  }
  return Status::error(StatusCode::kInvalidArgument,
                       "%s: layout is %d, expected a value of SinusoidLayout", function,
                       static_cast<int>(layout));
}

Status check_positions(const char* function, const char* name, Index first, Index last) noexcept {
  if (first >= -kMaxPosition && last <= kMaxPosition) {
    return {};
  }
  return Status::error(StatusCode::kOutOfRange,
                       "%s: %s reaches %lld, expected at most %lld in size", function, name,
                       static_cast<long long>(last > kMaxPosition ? last : first),
                       static_cast<long long>(kMaxPosition));
}

Status check_width(const char* function, Index d_model) noexcept {
  if (d_model >= 1) {
    return {};
  }
  return Status::error(StatusCode::kShapeMismatch, "%s: d_model is %lld, expected at least 1",
                       function, static_cast<long long>(d_model));
}

/// w_i = base^(-2i / d_model).
double frequency(Index i, Index d_model, double base) noexcept {
  return std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(d_model));
}

/// Columns of the sine and the cosine of pair i.
struct Columns {
  Index sine, cosine;
};
Columns columns(Index i, Index d_model, SinusoidLayout layout) noexcept {
  return layout == SinusoidLayout::kInterleaved ? Columns{2 * i, 2 * i + 1}
                                                : Columns{i, (d_model + 1) / 2 + i};
}

struct Rotation {
  double sine, cosine;
};
Rotation rotation(double angle) noexcept { return {std::sin(angle), std::cos(angle)}; }

/// The greatest multiple of kAnchorRows that is not above p.
Index anchor_of(Index p) noexcept {
  const Index remainder = p % kAnchorRows;
  return p - (remainder < 0 ? remainder + kAnchorRows : remainder);
}

}  // namespace

// The encoding's own rotation property computes it: position p = anchor + r, with anchors at
// multiples of 64, is the anchor rotated by r. That takes two sines and four multiplications for an
// element instead of a sine for each, in double precision, where the rotation costs 3 ulp (7e-16)
// of the 6e-8 that rounding to float costs. Anchors are absolute, so a row does not depend on where
// a table starts.
Status sinusoidal_encoding(TensorView<float> table, Index offset,
                           const SinusoidOptions& options) noexcept {
  constexpr const char* kName = "sinusoidal_encoding";
  constexpr Index kAny = ShapeText::kAny;
  QKV_RETURN_IF_ERROR(check_dense(kName, "table", table, {kAny, kAny}));
  const Index length = table.extent(0);
  const Index d_model = table.extent(1);
  QKV_RETURN_IF_ERROR(check_width(kName, d_model));
  QKV_RETURN_IF_ERROR(check_base(kName, options.base));
  QKV_RETURN_IF_ERROR(check_layout(kName, options.layout));
  QKV_RETURN_IF_ERROR(check_positions(kName, "offset", offset, offset));
  QKV_RETURN_IF_ERROR(check_positions(kName, "offset + length", offset, offset + length - 1));

  if (length == 0) {
    return {};
  }
  // A short table needs few of the steps.
  const Index steps = length < kAnchorRows ? length : kAnchorRows;
  const Index first_step = offset - anchor_of(offset);
  for (Index i = 0; 2 * i < d_model; ++i) {
    const double w = frequency(i, d_model, options.base);
    const auto [sine, cosine] = columns(i, d_model, options.layout);
    Rotation step[kAnchorRows];
    for (Index n = 0; n < steps; ++n) {
      const Index r = (first_step + n) % kAnchorRows;
      step[r] = rotation(static_cast<double>(r) * w);
    }
    for (Index p = offset; p < offset + length;) {
      const Index anchor = anchor_of(p);
      const Rotation at = rotation(static_cast<double>(anchor) * w);
      const Index stop =
          anchor + kAnchorRows < offset + length ? anchor + kAnchorRows : offset + length;
      for (; p < stop; ++p) {
        const Rotation by = step[p - anchor];
        float* row = table.data + (p - offset) * d_model;
        row[sine] = static_cast<float>(at.sine * by.cosine + at.cosine * by.sine);
        if (2 * i + 1 < d_model) {
          row[cosine] = static_cast<float>(at.cosine * by.cosine - at.sine * by.sine);
        }
      }
    }
  }
  return {};
}

Status sinusoidal_shift_blocks(TensorView<float> blocks, Index k, Index d_model,
                               const SinusoidOptions& options) noexcept {
  constexpr const char* kName = "sinusoidal_shift_blocks";
  QKV_RETURN_IF_ERROR(check_width(kName, d_model));
  QKV_RETURN_IF_ERROR(check_dense(kName, "blocks", blocks, {(d_model + 1) / 2, 2, 2}));
  QKV_RETURN_IF_ERROR(check_base(kName, options.base));
  QKV_RETURN_IF_ERROR(check_layout(kName, options.layout));
  QKV_RETURN_IF_ERROR(check_positions(kName, "k", k, k));
  for (Index i = 0; 2 * i < d_model; ++i) {
    const auto [s, c] = rotation(static_cast<double>(k) * frequency(i, d_model, options.base));
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
  const Index d_model = matrix.rank == 2 ? matrix.extent(0) : ShapeText::kAny;
  QKV_RETURN_IF_ERROR(check_dense(kName, "matrix", matrix, {d_model, d_model}));
  QKV_RETURN_IF_ERROR(check_width(kName, d_model));
  QKV_RETURN_IF_ERROR(check_base(kName, options.base));
  QKV_RETURN_IF_ERROR(check_layout(kName, options.layout));
  QKV_RETURN_IF_ERROR(check_positions(kName, "k", k, k));
  if (d_model % 2 != 0) {
    return Status::error(StatusCode::kUnsupported,
                         "%s: d_model is %lld, expected an even number: the last sine of an odd "
                         "encoding has no cosine, so no matrix shifts it (the blocks do)",
                         kName, static_cast<long long>(d_model));
  }
  for (Index i = 0; i < matrix.size(); ++i) {
    matrix.data[i] = 0.0F;
  }
  for (Index i = 0; 2 * i < d_model; ++i) {
    const auto [s, c] = rotation(static_cast<double>(k) * frequency(i, d_model, options.base));
    const auto [sine, cosine] = columns(i, d_model, options.layout);
    *matrix.at(sine, sine) = *matrix.at(cosine, cosine) = static_cast<float>(c);
    *matrix.at(sine, cosine) = static_cast<float>(s);
    *matrix.at(cosine, sine) = static_cast<float>(-s);
  }
  return {};
}

}  // namespace qkv
