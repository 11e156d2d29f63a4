// What rotary embeddings, relative biases and statistics of weights should give: the formulas of
// the public headers in double precision, one plain loop after another, and the bounds they state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "bounds.hpp"
#include "qkv/analysis.hpp"
#include "qkv/relative_bias.hpp"
#include "qkv/rotary.hpp"

namespace qkv::test::bounds {

/// Of a rotated pair of this norm; `a` is the attention factor (qkv/rotary.hpp).
inline double rotary(double a, double norm) { return 3.1 * kU * a * norm + 0x1p-148; }
/// Of a product of two rotated vectors; `size` is sum |q_i| |k_i| over pairs.
inline double rotary_score(double a, double size) { return 9 * kU * a * a * size; }
/// With tables given; `size` is |c x1| + |s x2|.
inline double rotary_given(double size) { return 2.1 * kU * size + 0x1p-148; }
/// Of a value of rotary_table().
inline constexpr double kRotaryTable = 0.54 * kU;
inline double rotary_table_yarn(double a) { return 1.04 * kU * a; }

/// qkv/relative_bias.hpp.
inline double alibi(double slope) { return 1.01 * kU * slope; }
inline double transformer_xl(Index d, double size) {
  return static_cast<double>(d + 2) * kU * size + static_cast<double>(d) * 0x1p-149;
}

/// qkv/analysis.hpp.
inline double row_entropy(Index t, double exact, double size) {
  return kU * std::abs(exact) + static_cast<double>(t + 4) * 0x1p-52 * size + 0x1p-150;
}
inline double head_statistic(Index tq, Index tk, double size) {
  return (kU + static_cast<double>(tq + tk + 8) * 0x1p-52) * size + 0x1p-150;
}
inline double rollout(Index layers, Index heads, Index t, double exact) {
  return (kU + static_cast<double>(layers * (heads + 2 * t + 8)) * 0x1p-52) * exact + 0x1p-150;
}
/// qkv/spectra.hpp: of a singular value of a product, from those of its factors' sizes |left|_F |right|_F.
inline double singular_value(Index k, double exact, double sizes) {
  return kU * exact + 64 * static_cast<double>(k) * 0x1p-53 * sizes;
}
/// Of each number of the product that r singular values and vectors make.
inline double singular_vectors(Index k, Index r, double sizes) {
  return (0x1p-22 * static_cast<double>(r) + 64 * static_cast<double>(k) * 0x1p-53) * sizes;
}
/// How far the smaller product may be from a matrix that has an eigenvalue of this size.
inline double eigenvalue(Index m, Index k, double size, double sizes) {
  return 2 * kU * size + static_cast<double>(m + 64 * k) * 0x1p-53 * sizes;
}
/// Of a variance of [n, d] rows, whose columns have together the variance `all`.
inline double variance(Index n, Index d, double exact, double all) {
  return kU * exact + 16 * static_cast<double>(n + d) * 0x1p-53 * all;
}
/// Of an effective rank of products of [., k] and [k, .]; `size` is |left|_F |right|_F by the sum of the singular values.
inline double effective_rank(Index k, double size, double exact) {
  const auto most = static_cast<double>(k);
  const double t = 2 * most * singular_value(k, 0.0, size);
  return (kU + std::expm1(t * std::log(most / t) + (most + 8) * 0x1p-48)) * exact;
}

}  // namespace qkv::test::bounds

namespace qkv::test::oracle {

/// The angle that pair `i` of r / 2 turns by at position 1.
inline double rotary_frequency(const RotaryOptions& o, Index r, Index i) {
  using Type = RotaryScaling::Type;
  const auto width = static_cast<double>(r);
  const RotaryScaling& s = o.scaling;
  const auto frequency = [&](double base) {
    return std::pow(base, -2.0 * static_cast<double>(i) / width);
  };
  if (s.type == Type::kLinear) {
    return frequency(o.base) / s.factor;
  }
  if (s.type == Type::kNtk) {
    return r == 2 ? 1.0 : frequency(o.base * std::pow(s.factor, width / (width - 2.0)));
  }
  if (s.type == Type::kYarn) {
    const auto pair_with = [&](double turns) {
      const double wavelengths = static_cast<double>(s.original_length) / turns;
      return width * std::log(wavelengths / (2.0 * std::numbers::pi)) / (2.0 * std::log(o.base));
    };
    const double low = std::max(std::floor(pair_with(s.beta_fast)), 0.0);
    double high = std::min(std::ceil(pair_with(s.beta_slow)), width - 1.0);
    high = high <= low ? low + 0.001 : high;
    const double stretched = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    return frequency(o.base) * (1.0 - stretched) + frequency(o.base) / s.factor * stretched;
  }
  if (s.type == Type::kFactors) {
    return frequency(o.base) / static_cast<double>(*s.factors.at(i));
  }
  if (s.type == Type::kLlama3) {
    const double wavelength = 2.0 * std::numbers::pi / frequency(o.base);
    const double turns = static_cast<double>(s.original_length) / wavelength;
    const double kept =
        (turns - s.low_frequency_factor) / (s.high_frequency_factor - s.low_frequency_factor);
    return turns < s.low_frequency_factor ? frequency(o.base) / s.factor
           : turns > s.high_frequency_factor
               ? frequency(o.base)
               : frequency(o.base) / s.factor * (1.0 - kept) + frequency(o.base) * kept;
  }
  return frequency(o.base);
}

inline double rotary_attention_factor(const RotaryOptions& o) {
  using Type = RotaryScaling::Type;
  if (o.scaling.type == Type::kFactors) {
    return o.scaling.attention_factor.value_or(1.0);
  }
  return o.scaling.type == Type::kYarn
             ? o.scaling.attention_factor.value_or(0.1 * std::log(o.scaling.factor) + 1.0)
             : 1.0;
}

inline Index rotary_position(const RotaryOptions& o, Index b, Index t) {
  if (o.positions.absent()) {
    return o.offset + t;
  }
  return o.positions.rank == 1 ? *o.positions.at(t) : *o.positions.at(b, t);
}

/// cos and sin of pair i for token t of batch row b, whatever they come from.
struct Turn {
  double cosine, sine;
};
inline Turn rotary_turn(const RotaryOptions& o, Index r, Index b, Index t, Index i) {
  const Index p = rotary_position(o, b, t);
  if (o.cos.rank == 3) {
    return {static_cast<double>(*o.cos.at(b, t, i)), static_cast<double>(*o.sin.at(b, t, i))};
  }
  if (o.cos.rank == 2) {
    return {static_cast<double>(*o.cos.at(p, i)), static_cast<double>(*o.sin.at(p, i))};
  }
  const double angle = static_cast<double>(p) * rotary_frequency(o, r, i);
  const double factor = rotary_attention_factor(o);
  return {factor * std::cos(angle), factor * std::sin(angle)};
}

/// One element of a rotated array and what its bound is made of.
struct Rotated {
  double value;
  double norm;  ///< of the pair; 0 where x is copied
  double size;  ///< |c x1| + |s x2|, or the like of y2
};
inline Rotated rotary(const TensorView<const float>& x, const RotaryOptions& o, Index b, Index h,
                      Index t, Index column) {
  const Index r = o.rotary_dim == 0 ? x.extent(3) : o.rotary_dim;
  const auto at = [&](Index c) { return static_cast<double>(*x.at(b, h, t, c)); };
  if (column >= r) {
    return {at(column), 0.0, 0.0};
  }
  const Index pair = o.interleaved ? column / 2 : column % (r / 2);
  const double x1 = at(o.interleaved ? 2 * pair : pair);
  const double x2 = at(o.interleaved ? 2 * pair + 1 : pair + r / 2);
  const auto [c, s] = rotary_turn(o, r, b, t, pair);
  const bool first = o.interleaved ? column % 2 == 0 : column < r / 2;
  return first ? Rotated{c * x1 - s * x2, std::hypot(x1, x2), std::abs(c * x1) + std::abs(s * x2)}
               : Rotated{s * x1 + c * x2, std::hypot(x1, x2), std::abs(s * x1) + std::abs(c * x2)};
}

/// Slopes as the authors of ALiBi list them.
inline std::vector<double> alibi_slopes(Index heads) {
  if ((heads & (heads - 1)) == 0) {
    std::vector<double> slopes;
    for (Index k = 1; k <= heads; ++k) {
      slopes.push_back(std::pow(2.0, -8.0 * static_cast<double>(k) / static_cast<double>(heads)));
    }
    return slopes;
  }
  Index power = 1;
  while (2 * power < heads) {
    power *= 2;
  }
  std::vector<double> slopes = alibi_slopes(power);
  const std::vector<double> finer = alibi_slopes(2 * power);
  for (std::size_t i = 0; static_cast<Index>(slopes.size()) < heads; i += 2) {
    slopes.push_back(finer[i]);
  }
  return slopes;
}

/// A natural number of any size, lowest digits first.
inline void multiply(std::vector<std::uint32_t>& number, std::uint32_t factor) {
  std::uint64_t carry = 0;
  for (std::uint32_t& digit : number) {
    carry += std::uint64_t{digit} * factor;
    digit = static_cast<std::uint32_t>(carry);
    carry >>= 32U;
  }
  if (carry != 0) {
    number.push_back(static_cast<std::uint32_t>(carry));
  }
}
inline std::vector<std::uint32_t> power_product(Index a, Index times_a, Index b, Index times_b) {
  std::vector<std::uint32_t> product{1};
  for (Index i = 0; i < times_a; ++i) {
    multiply(product, static_cast<std::uint32_t>(a));
  }
  for (Index i = 0; i < times_b; ++i) {
    multiply(product, static_cast<std::uint32_t>(b));
  }
  return product;
}
inline bool less(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  return a.size() != b.size()
             ? a.size() < b.size()
             : std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

/// T5's bucket without a logarithm: the exact ones, and one more for each k that the distance
/// reaches, (n / exact)^rest >= (max_distance / exact)^k, in integers.
inline Index t5_bucket(Index relative_position, Index num_buckets, const T5Options& o) {
  const Index all = o.bidirectional ? num_buckets / 2 : num_buckets;
  const Index base = o.bidirectional && relative_position > 0 ? all : 0;
  const Index n =
      o.bidirectional ? std::abs(relative_position) : std::max(-relative_position, Index{0});
  const Index exact = all / 2;
  if (n < exact) {
    return base + n;
  }
  const Index rest = all - exact;
  Index bucket = exact;
  for (Index k = 1; k < rest; ++k) {
    bucket += less(power_product(n, rest, 1, 0), power_product(o.max_distance, k, exact, rest - k))
                  ? 0
                  : 1;
  }
  return base + bucket;
}

/// A sum and the same sum of absolute values.
struct Sum {
  double value = 0.0, size = 0.0;
  void add(double term) {
    value += term;
    size += std::abs(term);
  }
};

/// (q_i + v_h) . r at the distance i + (Tk - Tq) - j.
inline Sum transformer_xl(const TensorView<const float>& q, const TensorView<const float>& r,
                          const TensorView<const float>& v, Index tk, const Index (&at)[4]) {
  const auto [b, h, i, j] = at;
  const Index distance = i + (tk - q.extent(2)) - j;
  Sum sum;
  for (Index c = 0; c < q.extent(3); ++c) {
    const auto encoded = static_cast<double>(*r.at(tk - 1 - distance, h * q.extent(3) + c));
    const auto content = static_cast<double>(*q.at(b, h, i, c));
    const auto bias = static_cast<double>(*v.at(h, c));
    sum.value += (content + bias) * encoded;
    sum.size += (std::abs(content) + std::abs(bias)) * std::abs(encoded);
  }
  return sum;
}

inline Sum entropy(const float* weights, Index count) {
  Sum sum;
  for (Index j = 0; j < count; ++j) {
    const auto w = static_cast<double>(weights[j]);
    sum.add(w == 0.0 ? 0.0 : -w * std::log(w));
  }
  return sum;
}

struct Statistics {
  Sum entropy, distance, max_weight, first_key;
};
inline Statistics head_statistics(const TensorView<const float>& weights, Index b, Index h,
                                  Index offset) {
  const Index tq = weights.extent(2);
  const Index tk = weights.extent(3);
  const auto rows = static_cast<double>(tq);
  Statistics s;
  for (Index i = 0; i < tq && tk > 0; ++i) {
    const float* row = weights.at(b, h, i);
    const Sum entropy = oracle::entropy(row, tk);
    s.entropy.value += entropy.value / rows;
    s.entropy.size += entropy.size / rows;
    for (Index j = 0; j < tk; ++j) {
      s.distance.add(static_cast<double>(row[j]) * static_cast<double>(std::abs(i + offset - j)) /
                     rows);
    }
    s.max_weight.add(static_cast<double>(*std::max_element(row, row + tk)) / rows);
    s.first_key.add(static_cast<double>(row[0]) / rows);
  }
  return s;
}

/// [T, T] after all layers.
inline std::vector<double> rollout(const TensorView<const float>& weights) {
  const Index t = weights.extent(3);
  const auto heads = static_cast<double>(weights.extent(1));
  const auto at = [t](Index i, Index j) { return static_cast<std::size_t>(i * t + j); };
  std::vector<double> rolled(at(t, 0), 0.0);
  for (Index i = 0; i < t; ++i) {
    rolled[at(i, i)] = 1.0;
  }
  for (Index layer = 0; layer < weights.extent(0); ++layer) {
    std::vector<double> next(rolled.size(), 0.0);
    for (Index i = 0; i < t; ++i) {
      std::vector<double> row;
      double sum = 0.0;
      for (Index k = 0; k < t; ++k) {
        double mean = 0.0;
        for (Index h = 0; h < weights.extent(1); ++h) {
          mean += static_cast<double>(*weights.at(layer, h, i, k)) / heads;
        }
        row.push_back(0.5 * mean + (i == k ? 0.5 : 0.0));
        sum += row.back();
      }
      for (Index k = 0; k < t; ++k) {
        for (Index j = 0; j < t; ++j) {
          next[at(i, j)] += row[static_cast<std::size_t>(k)] / sum * rolled[at(k, j)];
        }
      }
    }
    rolled = next;
  }
  return rolled;
}

}  // namespace qkv::test::oracle
