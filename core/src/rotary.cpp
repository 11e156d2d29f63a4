#include "qkv/rotary.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "angles.hpp"
#include "check.hpp"
#include "float_count.hpp"
#include "isa_dispatch.hpp"
#include "rotary_internal.hpp"

namespace qkv {
namespace {

Status invalid(const Caller& caller, const char* name, double value,
               const char* expected) noexcept {
  return refuse(StatusCode::kInvalidArgument, caller, "{} is {}, expected {}", Argument{name},
                value, expected);
}

bool at_least(double value, double least) noexcept {
  return std::isfinite(value) && value >= least;
}

Status check_yarn(const Caller& caller, const RotaryScaling& s, double base) noexcept {
  if (base == 1.0) {
    return invalid(caller, "base", base, "more than 1 with yarn scaling");
  }
  if (s.original_length < 1) {
    return invalid(caller, "scaling.original_length", static_cast<double>(s.original_length),
                   "at least 1");
  }
  if (!std::isfinite(s.beta_slow) || s.beta_slow <= 0.0) {
    return invalid(caller, "scaling.beta_slow", s.beta_slow, "a positive finite number");
  }
  if (!std::isfinite(s.beta_fast) || s.beta_fast <= s.beta_slow) {
    return invalid(caller, "scaling.beta_fast", s.beta_fast,
                   "a finite number above @scaling.beta_slow");
  }
  const double attention = s.attention_factor.value_or(1.0);
  if (!std::isfinite(attention) || attention <= 0.0) {
    return invalid(caller, "scaling.attention_factor", attention, "a positive finite number");
  }
  return {};
}

Status check_scaling(const Caller& caller, const RotaryScaling& s, double base) noexcept {
  using Type = RotaryScaling::Type;
  if (s.type != Type::kNone && s.type != Type::kLinear && s.type != Type::kNtk &&
      s.type != Type::kYarn) {
    return invalid(caller, "scaling.type", static_cast<double>(s.type), "one of the four types");
  }
  if (!at_least(s.factor, 1.0)) {
    return invalid(caller, "scaling.factor", s.factor, "a finite number of at least 1");
  }
  if (s.type == Type::kNone && s.factor != 1.0) {
    return invalid(caller, "scaling.factor", s.factor, "1 without a @scaling.type");
  }
  return s.type == Type::kYarn ? check_yarn(caller, s, base) : Status{};
}

/// Shapes of cos and sin as far as the tokens do not matter.
Status check_tables(const Caller& caller, const RotaryOptions& o, Index pairs) noexcept {
  if (o.cos.absent() && o.sin.absent()) {
    return {};
  }
  if (o.cos.absent() || o.sin.absent()) {
    return refuse(StatusCode::kInvalidArgument, caller, "{} is given without {}, expected both",
                  o.cos.absent() ? "@sin" : "@cos", o.cos.absent() ? "@cos" : "@sin");
  }
  if (o.scaling.type != RotaryScaling::Type::kNone) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@scaling is given beside @cos and @sin, expected one of the two");
  }
  const auto check = [&](const char* name, const TensorView<const float>& table) {
    return o.cos.rank == 3 ? check_array(caller, name, table, {kAny, kAny, pairs})
                           : check_array(caller, name, table, {kAny, pairs});
  };
  QKV_RETURN_IF_ERROR(check("cos", o.cos));
  QKV_RETURN_IF_ERROR(check("sin", o.sin));
  if (o.cos.shape != o.sin.shape) {
    return refuse(StatusCode::kShapeMismatch, caller, "@sin is {}, expected {} to match @cos",
                  Extents(o.sin), Extents(o.cos));
  }
  return {};
}

/// One row of cos for each token leaves nothing for positions to say.
Status check_token_rows(const Caller& caller, const RotaryOptions& o,
                        const RotaryShape& shape) noexcept {
  if (o.cos.rank != 3) {
    return {};
  }
  QKV_RETURN_IF_ERROR(
      check_array(caller, "cos", o.cos, {shape.batch, shape.tokens, o.cos.extent(2)}));
  if (!o.positions.absent() || o.offset != 0) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "{} given beside one row of @cos for each token, expected one of the two",
                  o.positions.absent() ? "@offset is" : "@positions are");
  }
  return {};
}

Index position_of(const RotaryOptions& o, Index b, Index t) noexcept {
  if (o.positions.absent()) {
    return o.offset + t;
  }
  return Index{o.positions.rank == 1 ? *o.positions.at(t) : *o.positions.at(b, t)};
}

Status check_position_shape(const Caller& caller, const RotaryOptions& o,
                            const RotaryShape& shape) noexcept {
  if (o.positions.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(
      o.positions.rank == 2
          ? check_array(caller, "positions", o.positions, {shape.batch, shape.tokens})
          : check_array(caller, "positions", o.positions, {shape.tokens}));
  if (o.offset != 0) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@offset is {} beside @positions, expected one of the two", o.offset);
  }
  return {};
}

/// Positions within [-kMaxPosition, kMaxPosition], or within the rows of a given table.
Status check_positions(const Caller& caller, const RotaryOptions& o,
                       const RotaryShape& shape) noexcept {
  QKV_RETURN_IF_ERROR(check_position_shape(caller, o, shape));
  if (o.cos.rank == 3 || shape.tokens == 0) {
    return {};
  }
  const Index least = o.cos.absent() ? -kMaxPosition : 0;
  const Index most = o.cos.absent() ? kMaxPosition : o.cos.extent(0) - 1;
  const auto check = [&](const auto& name, Index p) {
    return p >= least && p <= most
               ? Status{}
               : refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected {} to {}{}", name, p,
                        least, most, o.cos.absent() ? "" : ", the rows of @cos");
  };
  if (o.positions.absent()) {
    QKV_RETURN_IF_ERROR(check(Argument{"offset"}, o.offset));
    return check(MessageValue("@offset + tokens - 1"),
                 detail::saturated_sum(o.offset, shape.tokens - 1));
  }
  if (!o.positions.data) {
    return {};  // there are no elements, as check_array() saw
  }
  const Index rows = o.positions.rank == 2 ? shape.batch : 1;
  for (Index b = 0; b < rows; ++b) {
    for (Index t = 0; t < shape.tokens; ++t) {
      const Index p = position_of(o, b, t);
      QKV_RETURN_IF_ERROR(check(Argument{"positions", b * shape.tokens + t}, p));
    }
  }
  return {};
}

/// 2 * tokens * pairs floats as the workspace counts them, or the most it can be asked for.
std::size_t scratch_size(Index tokens, Index pairs) noexcept {
  return capped_product(2, Workspace::padded(capped_product(tokens, pairs)));
}

/// The frequencies w_i of RotaryScaling.
class Frequencies {
 public:
  explicit Frequencies(const RotaryOptions& o) noexcept
      : scaling_(o.scaling), base_(o.base), r_(static_cast<double>(o.rotary_dim)) {
    if (scaling_.type == RotaryScaling::Type::kYarn) {
      low_ = std::fmax(std::floor(pair_with(scaling_.beta_fast)), 0.0);
      high_ = std::fmax(std::fmin(std::ceil(pair_with(scaling_.beta_slow)), r_ - 1.0), low_);
      high_ += high_ == low_ ? 0.001 : 0.0;
    }
  }

  [[nodiscard]] double at(Index pair) const noexcept {
    const double i = static_cast<double>(pair);
    const double w = frequency(pair, r_, base_);
    switch (scaling_.type) {
      case RotaryScaling::Type::kNone:
        return w;
      case RotaryScaling::Type::kLinear:
        return w / scaling_.factor;
      case RotaryScaling::Type::kNtk:  // r = 2 has pair 0 alone, which stays
        return pair == 0 ? w : w * power(scaling_.factor, -2.0 * i / (r_ - 2.0));
      case RotaryScaling::Type::kYarn: {
        const double ramp = std::fmin(std::fmax((i - low_) / (high_ - low_), 0.0), 1.0);
        return (1.0 - ramp) * w + ramp * (w / scaling_.factor);
      }
    }
    return w;  // check_scaling() refuses other types
  }

  /// What cos and sin are multiplied by.
  [[nodiscard]] double attention_factor() const noexcept {
    return scaling_.type == RotaryScaling::Type::kYarn
               ? scaling_.attention_factor.value_or(0.1 * natural_log(scaling_.factor) + 1.0)
               : 1.0;
  }

 private:
  /// The pair, as a real number, that turns so often within original_length.
  [[nodiscard]] double pair_with(double turns) const noexcept {
    const double length = static_cast<double>(scaling_.original_length);
    return r_ * natural_log(length / (2.0 * std::numbers::pi * turns)) / (2.0 * natural_log(base_));
  }

  RotaryScaling scaling_;
  double base_, r_;
  double low_ = 0.0, high_ = 0.0;
};

void copy_rows(const RotaryPlan& plan, Index b, const RotaryRows& rows) noexcept {
  const RotaryOptions& o = plan.options;
  const Index pairs = plan.pairs();
  const auto bytes = static_cast<std::size_t>(pairs) * sizeof(float);
  for (Index t = 0; t < plan.shape.tokens; ++t) {
    const Index p = o.cos.rank == 2 ? position_of(o, b, t) : 0;
    std::memcpy(rows.cos + t * pairs, o.cos.rank == 2 ? o.cos.at(p) : o.cos.at(b, t), bytes);
    std::memcpy(rows.sin + t * pairs, o.sin.rank == 2 ? o.sin.at(p) : o.sin.at(b, t), bytes);
  }
}

/// out is x's own memory only when it is x.
Status check_in_place(const Caller& caller, const TensorView<const float>& x,
                      const TensorView<float>& out) noexcept {
  for (int axis = 0; x.data == out.data && x.size() > 0 && axis < 3; ++axis) {
    if (x.extent(axis) > 1 && x.stride(axis) != out.stride(axis)) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "axis {} of @out has stride {}, expected {} as in @x, whose memory it is", axis,
                    out.stride(axis), x.stride(axis));
    }
  }
  return {};
}

/// [.., T, r / 2] as batch and tokens; a table without batch rows has one.
RotaryShape table_shape(const TensorView<float>& cos) noexcept {
  return cos.rank == 3 ? RotaryShape{cos.extent(0), cos.extent(1), 2 * cos.extent(2)}
                       : RotaryShape{1, cos.extent(0), 2 * cos.extent(1)};
}

Status check_table_outputs(const Caller& caller, const TensorView<float>& cos,
                           const TensorView<float>& sin) noexcept {
  if (cos.rank == 3) {
    QKV_RETURN_IF_ERROR(check_dense(caller, "cos", cos, {kAny, kAny, kAny}));
    return check_dense(caller, "sin", sin, {cos.extent(0), cos.extent(1), cos.extent(2)});
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, "cos", cos, {kAny, kAny}));
  return check_dense(caller, "sin", sin, {cos.extent(0), cos.extent(1)});
}

}  // namespace

Status check_rotary(const Caller& caller, const RotaryOptions& options, Index d) noexcept {
  if (!at_least(options.base, 1.0)) {
    return invalid(caller, "base", options.base, "a finite number of at least 1");
  }
  const Index r = options.rotary_dim == 0 ? d : options.rotary_dim;
  if (r < 2 || r > d || r % 2 != 0) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@rotary_dim is {}{}, expected an even number from 2 to d = {}", r,
                  options.rotary_dim == 0 ? " (left to d)" : "", d);
  }
  QKV_RETURN_IF_ERROR(check_scaling(caller, options.scaling, options.base));
  return check_tables(caller, options, r / 2);
}

Status plan_rotary(const Caller& caller, const RotaryOptions& options, const RotaryShape& shape,
                   RotaryPlan& plan) noexcept {
  QKV_RETURN_IF_ERROR(check_rotary(caller, options, shape.d));
  QKV_RETURN_IF_ERROR(check_token_rows(caller, options, shape));
  QKV_RETURN_IF_ERROR(check_positions(caller, options, shape));
  QKV_RETURN_IF_ERROR(require_kernels(caller, plan.kernels));
  plan.options = options;
  plan.options.rotary_dim = options.rotary_dim == 0 ? shape.d : options.rotary_dim;
  plan.shape = shape;
  plan.shared = options.positions.rank != 2 && options.cos.rank != 3;
  plan.scratch = scratch_size(shape.tokens, plan.pairs());
  return {};
}

RotaryRows take_rows(const RotaryPlan& plan, Workspace& workspace) noexcept {
  const auto size = static_cast<std::size_t>(plan.shape.tokens * plan.pairs());
  float* cos = workspace.take(size);
  return {cos, workspace.take(size)};
}

void fill_rows(const RotaryPlan& plan, Index b, const RotaryRows& rows) noexcept {
  if (!plan.options.cos.absent()) {
    copy_rows(plan, b, rows);
    return;
  }
  const Frequencies frequencies(plan.options);
  const double factor = frequencies.attention_factor();
  const Index pairs = plan.pairs();
  for (Index i = 0; i < pairs; ++i) {
    AngleColumn column(frequencies.at(i));
    for (Index t = 0; t < plan.shape.tokens; ++t) {
      const auto [sine, cosine] = column.at(position_of(plan.options, b, t));
      rows.cos[t * pairs + i] = static_cast<float>(factor * cosine);
      rows.sin[t * pairs + i] = static_cast<float>(factor * sine);
    }
  }
}

void rotate_heads(const RotaryPlan& plan, const RotaryRows& rows, Index b,
                  const TensorView<const float>& x, const TensorView<float>& out) noexcept {
  const Index pairs = plan.pairs();
  const auto bytes = static_cast<std::size_t>(plan.shape.d) * sizeof(float);
  // So many tokens are still in the cache when they are turned.
  constexpr Index kTokens = 32;
  for (Index h = 0; h < x.extent(1); ++h) {
    for (Index first = 0; first < plan.shape.tokens; first += kTokens) {
      const Index tokens = std::min(kTokens, plan.shape.tokens - first);
      for (Index t = first; x.data != out.data && t < first + tokens; ++t) {
        // Rows of out may lie across those of x where both have gaps, which is not looked for.
        std::memmove(out.at(b, h, t), x.at(b, h, t), bytes);
      }
      plan.kernels->rotate({.tokens = tokens,
                            .pairs = pairs,
                            .x = out.at(b, h, first),
                            .stride = out.stride(2),
                            .cos = rows.cos + first * pairs,
                            .sin = rows.sin + first * pairs,
                            .interleaved = plan.options.interleaved});
    }
  }
}

void rotate_in_place(const RotaryPlan& plan, Workspace& workspace,
                     std::initializer_list<TensorView<float>> views) noexcept {
  const RotaryRows rows = take_rows(plan, workspace);
  for (Index b = 0; plan.shape.tokens > 0 && b < plan.shape.batch; ++b) {
    if (b == 0 || !plan.shared) {
      fill_rows(plan, b, rows);
    }
    for (const TensorView<float>& view : views) {
      rotate_heads(plan, rows, b, view, view);
    }
  }
}

Status rotary_embedding(TensorView<const float> x, TensorView<float> out,
                        const RotaryOptions& options, Workspace& workspace) noexcept {
  constexpr const char* kName = "rotary_embedding";
  QKV_RETURN_IF_ERROR(check_array(kName, "x", x, {kAny, kAny, kAny, kAny}));
  QKV_RETURN_IF_ERROR(
      check_output(kName, "out", out, {x.extent(0), x.extent(1), x.extent(2), x.extent(3)}));
  QKV_RETURN_IF_ERROR(check_in_place(kName, x, out));
  RotaryPlan plan;
  QKV_RETURN_IF_ERROR(plan_rotary(kName, options, {x.extent(0), x.extent(2), x.extent(3)}, plan));
  if (x.size() == 0) {
    return {};
  }
  QKV_RETURN_IF_ERROR(workspace.begin(plan.scratch));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"out", out}},
                                  {{"x", x.data == out.data ? TensorView<const float>{} : x},
                                   {"positions", options.positions},
                                   {"cos", options.cos},
                                   {"sin", options.sin}}));
  const RotaryRows rows = take_rows(plan, workspace);
  for (Index b = 0; b < plan.shape.batch; ++b) {
    if (b == 0 || !plan.shared) {
      fill_rows(plan, b, rows);
    }
    rotate_heads(plan, rows, b, x, out);
  }
  return {};
}

Status rotary_table(TensorView<float> cos, TensorView<float> sin,
                    const RotaryOptions& options) noexcept {
  constexpr const char* kName = "rotary_table";
  if (!options.cos.absent() || !options.sin.absent()) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "options has {}, expected none: this call makes them",
                  options.cos.absent() ? "@sin" : "@cos");
  }
  QKV_RETURN_IF_ERROR(check_table_outputs(kName, cos, sin));
  const RotaryShape shape = table_shape(cos);
  if (options.rotary_dim != 0 && options.rotary_dim != shape.d) {
    return refuse(StatusCode::kShapeMismatch, kName,
                  "@cos is {}, expected rows of @rotary_dim / 2 = {}", Extents(cos),
                  options.rotary_dim / 2);
  }
  RotaryPlan plan;
  QKV_RETURN_IF_ERROR(plan_rotary(kName, options, shape, plan));
  QKV_RETURN_IF_ERROR(
      check_apart(kName, {{"cos", cos}, {"sin", sin}}, {{"positions", options.positions}}));
  const Index row_size = shape.tokens * plan.pairs();
  for (Index b = 0; b < shape.batch && row_size > 0; ++b) {
    fill_rows(plan, b, {cos.data + b * row_size, sin.data + b * row_size});
  }
  return {};
}

}  // namespace qkv
