#include "qkv/relative_bias.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/portable_math.hpp"
#include "check/check.hpp"
#include "positions/relative_bias_check.hpp"

namespace qkv {
namespace {

/// A natural number, large enough for kMaxPosition^(kMaxT5Buckets / 2), under multiplication.
class Natural {
 public:
  void multiply(Index factor) noexcept {
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < used_; ++i) {
      carry += std::uint64_t{limbs_[i]} * static_cast<std::uint64_t>(factor);
      limbs_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    if (carry != 0) {
      limbs_[used_++] = static_cast<std::uint32_t>(carry);
    }
  }
  [[nodiscard]] bool operator>=(const Natural& other) const noexcept {
    if (used_ != other.used_) {
      return used_ > other.used_;
    }
    std::size_t i = used_ - 1;
    while (i > 0 && limbs_[i] == other.limbs_[i]) {
      --i;
    }
    return limbs_[i] >= other.limbs_[i];
  }

 private:
  static constexpr std::size_t kBits = std::bit_width(static_cast<std::uint64_t>(kMaxPosition));
  static constexpr std::size_t kLimbs = kBits * static_cast<std::size_t>(kMaxT5Buckets) / 2 / 32;
  std::array<std::uint32_t, kLimbs> limbs_{1};
  std::size_t used_ = 1;  ///< factors are below 2^32, so one step adds one limb at most
};

/// How the distances of one direction are split.
struct Buckets {
  Index all, exact, max_distance;

  [[nodiscard]] Index logarithmic() const noexcept { return all - exact; }
};

Buckets split_buckets(Index num_buckets, const T5Options& options) noexcept {
  const Index all = options.bidirectional ? num_buckets / 2 : num_buckets;
  return {all, all / 2, options.max_distance};
}

/// (n / exact)^m >= (max_distance / exact)^k with m = logarithmic(), in integers.
bool reaches(Index n, Index k, const Buckets& buckets) noexcept {
  Natural left;
  Natural right;
  for (Index step = 0; step < buckets.logarithmic(); ++step) {
    left.multiply(n);
    right.multiply(step < k ? buckets.max_distance : buckets.exact);
  }
  return left >= right;
}

/// Bucket of the distance n >= 0 within its direction.
Index distance_bucket(Index n, const Buckets& buckets) noexcept {
  if (n < buckets.exact) {
    return n;
  }
  if (n >= buckets.max_distance) {
    return buckets.all - 1;
  }
  const double exact = static_cast<double>(buckets.exact);
  const double x = natural_log(static_cast<double>(n) / exact) /
                   natural_log(static_cast<double>(buckets.max_distance) / exact) *
                   static_cast<double>(buckets.logarithmic());
  // x is wrong by at most 1e-9 (512 logarithmic buckets between 512 and 513).
  const double nearest = std::nearbyint(x);
  auto k = static_cast<Index>(x);
  if (std::fabs(x - nearest) < 1e-6) {
    k = static_cast<Index>(nearest);
    k -= reaches(n, k, buckets) ? 0 : 1;
  }
  return buckets.exact + k;
}

/// t5_bucket() of checked arguments.
Index bucket_of(Index relative_position, const Buckets& buckets, bool bidirectional) noexcept {
  const bool after = relative_position > 0;
  if (after && !bidirectional) {
    return 0;
  }
  // All beyond max_distance is one bucket, and the least Index has no opposite.
  const Index far = buckets.max_distance;
  const Index beyond = relative_position < -far ? -far : relative_position;
  return (after ? buckets.all : 0) + distance_bucket(after ? beyond : -beyond, buckets);
}

Index least_buckets(const T5Options& options) noexcept { return options.bidirectional ? 4 : 2; }

bool buckets_fit(Index num_buckets, const T5Options& options) noexcept {
  return num_buckets >= least_buckets(options) && num_buckets <= kMaxT5Buckets;
}

bool max_distance_fits(Index num_buckets, const T5Options& options) noexcept {
  return options.max_distance > split_buckets(num_buckets, options).exact &&
         options.max_distance <= kMaxPosition;
}

/// Dimensions that are multiplied at a time: what q + v of them takes of the stack.
constexpr Index kBlock = 64;
/// Sums that run side by side, for vectors.
constexpr Index kLanes = 8;

float dot(const float* a, const float* b, Index n) noexcept {
  float sums[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (Index lane = 0; i + lane < n; ++lane) {
    sums[lane] += a[i + lane] * b[i + lane];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// What one query row is multiplied with.
struct XlRow {
  const float* q;
  const float* v;
  const float* r;  ///< at the distance of key 0
  Index r_stride, d, tk;
};

void xl_row(const XlRow& row, float* bias) noexcept {
  for (Index from = 0; from < row.d; from += kBlock) {
    const Index width = row.d - from < kBlock ? row.d - from : kBlock;
    float sum[kBlock];
    for (Index c = 0; c < width; ++c) {
      sum[c] = row.q[from + c] + row.v[from + c];
    }
    for (Index j = 0; j < row.tk; ++j) {
      const float part = dot(sum, row.r + j * row.r_stride + from, width);
      bias[j] = from == 0 ? part : bias[j] + part;
    }
  }
}

}  // namespace

Status check_t5(const Caller& caller, const char* name, const TensorView<const float>& table,
                const T5Options& options) noexcept {
  QKV_RETURN_IF_ERROR(check_array(caller, name, table, {kAny, kAny}));
  const Index num_buckets = table.extent(0);
  if (!buckets_fit(num_buckets, options)) {
    return refuse(StatusCode::kShapeMismatch, caller,
                  "{} is {}, expected {} to {} rows, one for each bucket", Argument{name},
                  Extents(table), least_buckets(options), kMaxT5Buckets);
  }
  if (!max_distance_fits(num_buckets, options)) {
    const Index least = split_buckets(num_buckets, options).exact + 1;
    return refuse(StatusCode::kOutOfRange, caller, "@max_distance is {}, expected {} to {}",
                  options.max_distance, least, kMaxPosition);
  }
  if (options.offset < -kMaxPosition || options.offset > kMaxPosition) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@offset is {}, expected at most {} in magnitude", options.offset, kMaxPosition);
  }
  return {};
}

Status check_transformer_xl(const Caller& caller, const TransformerXlArrays& arrays) noexcept {
  const TensorView<const float>& q = arrays.q;
  QKV_RETURN_IF_ERROR(check_array(caller, "q", q, {kAny, kAny, kAny, kAny}));
  const Index heads = q.extent(1);
  const Index tq = q.extent(2);
  const Index d = q.extent(3);
  if (d == 0) {
    return refuse(StatusCode::kShapeMismatch, caller, "@q is {}, expected d of at least 1",
                  Extents(q));
  }
  QKV_RETURN_IF_ERROR(
      check_array(caller, arrays.bias_name, arrays.bias, {q.extent(0), heads, tq, kAny}));
  // Either may be any number where the other arrays have no elements.
  const Index tokens = detail::saturated_sum(arrays.bias.extent(3), tq);
  QKV_RETURN_IF_ERROR(check_array(
      caller, "r", arrays.r, {tokens == 0 ? 0 : tokens - 1, detail::saturated_product(heads, d)}));
  return check_array(caller, "v", arrays.v, {heads, d});
}

Status alibi_slopes(TensorView<float> slopes) noexcept {
  QKV_RETURN_IF_ERROR(check_array("alibi_slopes", "slopes", slopes, {kAny}));
  const Index heads = slopes.extent(0);
  const auto power =
      static_cast<Index>(std::bit_floor(static_cast<std::size_t>(heads)));  // 0 for no heads
  for (Index h = 0; h < heads; ++h) {
    const Index numerator = h < power ? 8 * (h + 1) : 8 * (h - power) + 4;
    slopes.data[h] = static_cast<float>(
        power_of_two(-static_cast<double>(numerator) / static_cast<double>(power)));
  }
  return {};
}

Index t5_bucket(Index relative_position, Index num_buckets, const T5Options& options) noexcept {
  if (!buckets_fit(num_buckets, options) || !max_distance_fits(num_buckets, options)) {
    return -1;
  }
  return bucket_of(relative_position, split_buckets(num_buckets, options), options.bidirectional);
}

// A bias is constant along diagonals, so only the first row and the first column are looked up;
// each further row is the one above, shifted by one.
Status t5_relative_bias(TensorView<const float> table, TensorView<float> bias,
                        const T5Options& options) noexcept {
  constexpr const char* kName = "t5_relative_bias";
  QKV_RETURN_IF_ERROR(check_t5(kName, "table", table, options));
  QKV_RETURN_IF_ERROR(check_output(kName, "bias", bias, {table.extent(1), kAny, kAny}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"bias", bias}}, {{"table", table}}));
  if (bias.size() == 0) {
    return {};
  }
  const Buckets buckets = split_buckets(table.extent(0), options);
  const auto look_up = [&](Index i, Index j) {
    const Index bucket = bucket_of(j - i - options.offset, buckets, options.bidirectional);
    for (Index h = 0; h < bias.extent(0); ++h) {
      *bias.at(h, i, j) = *table.at(bucket, h);
    }
  };
  const Index tq = bias.extent(1);
  const Index tk = bias.extent(2);
  for (Index j = 0; j < tk; ++j) {
    look_up(0, j);
  }
  for (Index i = 1; i < tq; ++i) {
    look_up(i, 0);
    for (Index h = 0; h < bias.extent(0); ++h) {
      // Not at(h, i, 1): where there is one key, the stride of its axis may be any number.
      std::memcpy(bias.at(h, i) + 1, bias.at(h, i - 1),
                  static_cast<std::size_t>(tk - 1) * sizeof(float));
    }
  }
  return {};
}

Status transformer_xl_bias(TensorView<const float> q, TensorView<const float> r,
                           TensorView<const float> v, TensorView<float> bias) noexcept {
  constexpr const char* kName = "transformer_xl_bias";
  QKV_RETURN_IF_ERROR(check_transformer_xl(kName, {q, r, v, "bias", bias}));
  QKV_RETURN_IF_ERROR(check_output(kName, "bias", bias, {kAny, kAny, kAny, kAny}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"bias", bias}}, {{"q", q}, {"r", r}, {"v", v}}));
  if (bias.size() == 0) {
    return {};
  }
  const Index tq = q.extent(2);
  const Index d = q.extent(3);
  for (Index b = 0; b < q.extent(0); ++b) {
    for (Index h = 0; h < q.extent(1); ++h) {
      for (Index i = 0; i < tq; ++i) {
        xl_row({.q = q.at(b, h, i),
                .v = v.at(h),
                .r = r.at(tq - 1 - i, h * d),
                .r_stride = r.stride(0),
                .d = d,
                .tk = bias.extent(3)},
               bias.at(b, h, i));
      }
    }
  }
  return {};
}

}  // namespace qkv
