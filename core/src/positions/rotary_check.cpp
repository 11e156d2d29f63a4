// What rotary_embedding(), rotary_table() and layers ask of the options of a rotation.
#include <cmath>

#include "base/float_count.hpp"
#include "check/check.hpp"
#include "positions/angles.hpp"
#include "positions/rotary_plan.hpp"

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

Status check_original_length(const Caller& caller, const RotaryScaling& s) noexcept {
  return s.original_length >= 1 ? Status{}
                                : invalid(caller, "scaling.original_length",
                                          static_cast<double>(s.original_length), "at least 1");
}

Status check_llama3(const Caller& caller, const RotaryScaling& s) noexcept {
  QKV_RETURN_IF_ERROR(check_original_length(caller, s));
  if (!std::isfinite(s.low_frequency_factor) || s.low_frequency_factor <= 0.0) {
    return invalid(caller, "scaling.low_frequency_factor", s.low_frequency_factor,
                   "a positive finite number");
  }
  if (!std::isfinite(s.high_frequency_factor) ||
      s.high_frequency_factor <= s.low_frequency_factor) {
    return invalid(caller, "scaling.high_frequency_factor", s.high_frequency_factor,
                   "a finite number above @scaling.low_frequency_factor");
  }
  return {};
}

Status check_attention_factor(const Caller& caller, const RotaryScaling& s) noexcept {
  const double attention = s.attention_factor.value_or(1.0);
  if (!std::isfinite(attention) || attention <= 0.0) {
    return invalid(caller, "scaling.attention_factor", attention, "a positive finite number");
  }
  return {};
}

Status check_yarn(const Caller& caller, const RotaryScaling& s, double base) noexcept {
  if (base == 1.0) {
    return invalid(caller, "base", base, "more than 1 with yarn scaling");
  }
  QKV_RETURN_IF_ERROR(check_original_length(caller, s));
  if (!std::isfinite(s.beta_slow) || s.beta_slow <= 0.0) {
    return invalid(caller, "scaling.beta_slow", s.beta_slow, "a positive finite number");
  }
  if (!std::isfinite(s.beta_fast) || s.beta_fast <= s.beta_slow) {
    return invalid(caller, "scaling.beta_fast", s.beta_fast,
                   "a finite number above @scaling.beta_slow");
  }
  return check_attention_factor(caller, s);
}

/// One number for each pair, with which it turns by at most 2 from one position to the next: rotation() computes angles of up to
/// 2 kMaxPosition.
Status check_factors(const Caller& caller, const RotaryOptions& o, Index pairs) noexcept {
  const RotaryScaling& s = o.scaling;
  if (s.factor != 1.0) {
    return invalid(caller, "scaling.factor", s.factor, "1 with @scaling.factors");
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, "scaling.factors", s.factors, {pairs}));
  for (Index i = 0; i < pairs; ++i) {
    const float factor = *s.factors.at(i);
    if (at_least(static_cast<double>(factor), 0.5)) {
      continue;  // w_i is at most 1
    }
    const double least = frequency(i, 2.0 * static_cast<double>(pairs), o.base) / 2.0;
    if (!at_least(static_cast<double>(factor), least)) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "{} is {}, expected a finite number of at least {}",
                    Argument{"scaling.factors", i}, factor, least);
    }
  }
  return check_attention_factor(caller, s);
}

Status check_scaling(const Caller& caller, const RotaryOptions& o, Index pairs) noexcept {
  using Type = RotaryScaling::Type;
  const RotaryScaling& s = o.scaling;
  if (s.type > Type::kFactors) {
    return invalid(caller, "scaling.type", static_cast<double>(s.type),
                   "a value of RotaryScaling::Type");
  }
  if (!at_least(s.factor, 1.0)) {
    return invalid(caller, "scaling.factor", s.factor, "a finite number of at least 1");
  }
  if (s.type == Type::kNone && s.factor != 1.0) {
    return invalid(caller, "scaling.factor", s.factor, "1 without a @scaling.type");
  }
  if (s.type == Type::kFactors) {
    return check_factors(caller, o, pairs);
  }
  if (s.type == Type::kLlama3) {
    return check_llama3(caller, s);
  }
  return s.type == Type::kYarn ? check_yarn(caller, s, o.base) : Status{};
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
                  "@scaling is given together with @cos and @sin, expected one of the two");
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
                  "{} given together with one row of @cos for each token, expected one of the two",
                  o.positions.absent() ? "@offset is" : "@positions are");
  }
  return {};
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
                  "@offset is {} together with @positions, expected one of the two", o.offset);
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

/// 2 * tokens * pairs floats as the workspace counts them, or the most that it counts.
std::size_t scratch_size(Index tokens, Index pairs) noexcept {
  return capped_product(2, Workspace::padded(capped_product(tokens, pairs)));
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
  QKV_RETURN_IF_ERROR(check_scaling(caller, options, r / 2));
  return check_tables(caller, options, r / 2);
}

Status plan_rotary(const Caller& caller, const kernels::KernelTable& table,
                   const RotaryOptions& options, const RotaryShape& shape,
                   RotaryPlan& plan) noexcept {
  QKV_RETURN_IF_ERROR(check_rotary(caller, options, shape.d));
  QKV_RETURN_IF_ERROR(check_token_rows(caller, options, shape));
  QKV_RETURN_IF_ERROR(check_positions(caller, options, shape));
  plan.kernels = &table;
  plan.options = options;
  plan.options.rotary_dim = options.rotary_dim == 0 ? shape.d : options.rotary_dim;
  plan.shape = shape;
  plan.shared = options.positions.rank != 2 && options.cos.rank != 3;
  plan.scratch = scratch_size(shape.tokens, plan.pairs());
  return {};
}

}  // namespace qkv
