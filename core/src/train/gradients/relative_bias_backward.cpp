#include <algorithm>

#include "check/check.hpp"
#include "positions/relative_bias_check.hpp"
#include "qkv/train/relative_bias.hpp"

namespace qkv::train {
namespace {

// ----------------------------------------------------------------------------------------------- T5

/// Distances from first to last, both included, that share a bucket.
struct DistanceRange {
  Index bucket, first, last;
};

/// The range that begins at `first`, of distances up to `most`. Buckets are intervals, so it is all of its bucket.
DistanceRange range_from(Index first, Index most, Index num_buckets,
                         const T5Options& options) noexcept {
  const Index bucket = t5_bucket(first - options.offset, num_buckets, options);
  Index last = first;
  while (last < most && t5_bucket(last + 1 - options.offset, num_buckets, options) == bucket) {
    ++last;
  }
  return {bucket, first, last};
}

/// Sum of one head over the pairs with j - i in the range.
double sum_of_range(const TensorView<const float>& d_bias, Index h,
                    const DistanceRange& range) noexcept {
  double sum = 0.0;
  for (Index i = 0; i < d_bias.extent(1); ++i) {
    const float* row = d_bias.at(h, i);
    const Index end = std::min(d_bias.extent(2), i + range.last + 1);
    for (Index j = std::max(Index{0}, i + range.first); j < end; ++j) {
      sum += static_cast<double>(row[j]);
    }
  }
  return sum;
}

// ----------------------------------------------------------------------------------- Transformer-XL

constexpr const char* kXl = "transformer_xl_bias_backward";

/// Dimensions of a head that are summed at a time: what their sums take of the stack.
constexpr Index kBlock = 64;

/// Some dimensions of one head.
struct Columns {
  Index h, first, count;
};

/// sums += g x.
void add(double* sums, float g, const float* x, Index n) noexcept {
  for (Index c = 0; c < n; ++c) {
    sums[c] += static_cast<double>(g) * static_cast<double>(x[c]);
  }
}

void write(const double* sums, Index n, float* to) noexcept {
  for (Index c = 0; c < n; ++c) {
    to[c] = static_cast<float>(sums[c]);
  }
}

/// dq and dv of these dimensions: that of v is the sum of those of all queries, before they are rounded.
void differentiate_queries(const TransformerXlBackwardArgs& args, const Columns& of) noexcept {
  const Index tq = args.q.extent(2);
  const Index column = of.h * args.q.extent(3) + of.first;
  double of_head[kBlock] = {};
  for (Index b = 0; b < args.q.extent(0); ++b) {
    for (Index i = 0; i < tq; ++i) {
      const float* g = args.d_bias.at(b, of.h, i);
      double of_query[kBlock] = {};
      for (Index j = 0; j < args.d_bias.extent(3); ++j) {
        if (g[j] != 0.0F) {
          add(of_query, g[j], args.r.at(tq - 1 - i + j, column), of.count);
        }
      }
      for (Index c = 0; c < of.count; ++c) {
        of_head[c] += of_query[c];
      }
      if (!args.dq.absent()) {
        write(of_query, of.count, args.dq.at(b, of.h, i, of.first));
      }
    }
  }
  if (!args.dv.absent()) {
    write(of_head, of.count, args.dv.at(of.h, of.first));
  }
}

/// dr of these dimensions at row t, along the diagonal of the pairs that read it.
void differentiate_distance(const TransformerXlBackwardArgs& args, const Columns& of,
                            Index t) noexcept {
  const Index tq = args.q.extent(2);
  const Index tk = args.d_bias.extent(3);
  const float* v = args.v.at(of.h, of.first);
  double sums[kBlock] = {};
  for (Index b = 0; b < args.q.extent(0); ++b) {
    const Index end = std::min(tq, tq + tk - 1 - t);
    for (Index i = std::max(Index{0}, tq - 1 - t); i < end; ++i) {
      const float g = *args.d_bias.at(b, of.h, i, t - (tq - 1) + i);
      const float* q = args.q.at(b, of.h, i, of.first);
      for (Index c = 0; g != 0.0F && c < of.count; ++c) {
        sums[c] += static_cast<double>(g) * (static_cast<double>(q[c]) + static_cast<double>(v[c]));
      }
    }
  }
  write(sums, of.count, args.dr.at(t, of.h * args.q.extent(3) + of.first));
}

/// Without pairs every gradient is 0.
void clear(const TransformerXlBackwardArgs& args) noexcept {
  const Index d = args.q.extent(3);
  const Index distances = args.dr.absent() || args.dr.size() == 0 ? 0 : args.dr.extent(0);
  for (Index row = 0; row < distances; ++row) {
    std::fill_n(args.dr.at(row), args.dr.extent(1), 0.0F);
  }
  for (Index h = 0; h < args.q.extent(1); ++h) {
    if (!args.dv.absent()) {
      std::fill_n(args.dv.at(h), d, 0.0F);
    }
    const Index rows =
        args.dq.absent() || args.dq.size() == 0 ? 0 : args.q.extent(0) * args.q.extent(2);
    for (Index row = 0; row < rows; ++row) {
      std::fill_n(args.dq.at(row / args.q.extent(2), h, row % args.q.extent(2)), d, 0.0F);
    }
  }
}

Status check(const TransformerXlBackwardArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_transformer_xl(kXl, {args.q, args.r, args.v, "d_bias", args.d_bias}));
  const auto& q = args.q.shape;
  QKV_RETURN_IF_ERROR(check_output_if_given(kXl, "dq", args.dq, {q[0], q[1], q[2], q[3]}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(kXl, "dr", args.dr, {args.r.extent(0), args.r.extent(1)}));
  QKV_RETURN_IF_ERROR(check_output_if_given(kXl, "dv", args.dv, {q[1], q[3]}));
  return check_apart(kXl, {{"dq", args.dq}, {"dr", args.dr}, {"dv", args.dv}},
                     {{"d_bias", args.d_bias}, {"q", args.q}, {"r", args.r}, {"v", args.v}});
}

}  // namespace

// A row of the table is an interval of distances, so each of its elements is summed by itself, and no array of partial
// sums is needed for up to kMaxT5Buckets of them.
Status t5_relative_bias_backward(TensorView<const float> d_bias, TensorView<float> d_table,
                                 const T5Options& options) noexcept {
  constexpr const char* kName = "t5_relative_bias_backward";
  QKV_RETURN_IF_ERROR(check_t5(kName, "d_table", d_table, options));
  QKV_RETURN_IF_ERROR(check_output(kName, "d_table", d_table, {kAny, kAny}));
  const Index num_buckets = d_table.extent(0);
  const Index heads = d_table.extent(1);
  QKV_RETURN_IF_ERROR(check_array(kName, "d_bias", d_bias, {heads, kAny, kAny}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"d_table", d_table}}, {{"d_bias", d_bias}}));
  for (Index bucket = 0; heads > 0 && bucket < num_buckets; ++bucket) {
    std::fill_n(d_table.at(bucket), heads, 0.0F);
  }
  if (d_bias.size() == 0) {
    return {};
  }
  const Index most = d_bias.extent(2) - 1;
  for (Index first = 1 - d_bias.extent(1); first <= most;) {
    const DistanceRange range = range_from(first, most, num_buckets, options);
    for (Index h = 0; h < heads; ++h) {
      *d_table.at(range.bucket, h) = static_cast<float>(sum_of_range(d_bias, h, range));
    }
    first = range.last + 1;
  }
  return {};
}

Status transformer_xl_bias_backward(const TransformerXlBackwardArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check(args));
  if (args.d_bias.size() == 0) {
    clear(args);
    return {};
  }
  const Index d = args.q.extent(3);
  for (Index h = 0; h < args.q.extent(1); ++h) {
    for (Index first = 0; first < d; first += kBlock) {
      const Columns of{h, first, std::min(kBlock, d - first)};
      if (!args.dq.absent() || !args.dv.absent()) {
        differentiate_queries(args, of);
      }
      for (Index t = 0; !args.dr.absent() && t < args.r.extent(0); ++t) {
        differentiate_distance(args, of, t);
      }
    }
  }
  return {};
}

}  // namespace qkv::train
