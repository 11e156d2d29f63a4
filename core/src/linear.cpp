#include "linear.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

#include "check.hpp"

namespace qkv {

using kernels::KernelTable;

Status check_linear(const char* function, const Linear& l) noexcept {
  const bool in_out = l.layout == WeightLayout::kInOut;
  const Index rows = in_out ? l.in : l.out;
  const Index columns = in_out ? l.out : l.in;
  if (l.weight.absent()) {
    return Status::error(StatusCode::kInvalidArgument, "%s: %s is missing, expected %s", function,
                         l.name, ShapeText({rows, columns}).text());
  }
  QKV_RETURN_IF_ERROR(check_array(function, l.name, l.weight, {rows, columns}));
  return l.bias.absent() ? Status{} : check_array(function, l.bias_name, l.bias, {l.out});
}

Status check_layout(const char* function, const char* name, WeightLayout layout) noexcept {
  return layout <= WeightLayout::kOutIn
             ? Status{}
             : Status::error(StatusCode::kInvalidArgument,
                             "%s: %s is %d, expected a value of WeightLayout", function, name,
                             static_cast<int>(layout));
}

Status pack_linear(const KernelTable& table, const Linear& l, PackedLinear& packed) noexcept {
  const auto columns =
      static_cast<std::size_t>((l.out + table.panel - 1) / table.panel * table.panel);
  const std::uint64_t floats = std::uint64_t{columns} * static_cast<std::uint64_t>(l.in);
  // More floats than memory can hold: a buffer of so many is refused.
  constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(float);
  QKV_RETURN_IF_ERROR(
      packed.panels.reserve(static_cast<std::size_t>(floats < kMost ? floats : kMost)));
  const bool in_out = l.layout == WeightLayout::kInOut;
  table.pack({.b = l.weight.data,
              .row_stride = l.weight.stride(in_out ? 0 : 1),
              .column_stride = l.weight.stride(in_out ? 1 : 0),
              .k = l.in,
              .n = l.out,
              .panels = packed.panels.data()});
  if (!l.bias.absent()) {
    QKV_RETURN_IF_ERROR(packed.bias.reserve(columns));
    std::memset(packed.bias.data(), 0, columns * sizeof(float));
    std::memcpy(packed.bias.data(), l.bias.data, static_cast<std::size_t>(l.out) * sizeof(float));
  }
  packed.in = l.in;
  packed.out = l.out;
  return {};
}

void apply(const KernelTable& table, const PackedLinear& l, const float* x, Index rows,
           float* y) noexcept {
  table.gemm({.m = rows,
              .n = l.out,
              .k = l.in,
              .a = x,
              .a_stride = l.in,
              .b_panels = l.panels.data(),
              .bias = l.bias.data(),
              .c = y,
              .c_stride = l.out});
}

}  // namespace qkv
