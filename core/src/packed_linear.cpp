#include "packed_linear.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "check.hpp"
#include "float_count.hpp"
#include "share.hpp"

namespace qkv {

using kernels::KernelTable;

namespace {

/// Rows of a slice: whole tiles of every instruction set.
constexpr Index kSliceRows = 48;

/// The product for a format.
void (*product_of(const KernelTable& table,
                  WeightFormat format) noexcept)(const kernels::GemmArgs&) noexcept {
  switch (format) {
    case WeightFormat::kBf16:
      return table.gemm_bf16;
    case WeightFormat::kInt8:
      return table.gemm_int8;
    default:
      return table.gemm;
  }
}

}  // namespace

Status check_linear(const Caller& caller, const WeightMatrix& l) noexcept {
  const bool in_out = l.layout == WeightLayout::kInOut;
  const Index rows = in_out ? l.in : l.out;
  const Index columns = in_out ? l.out : l.in;
  if (l.weight.absent()) {
    return refuse(StatusCode::kInvalidArgument, caller, "{} is missing, expected {}",
                  Argument{l.name}, Extents({rows, columns}));
  }
  QKV_RETURN_IF_ERROR(check_array(caller, l.name, l.weight, {rows, columns}));
  return l.bias.absent() ? Status{} : check_array(caller, l.bias_name, l.bias, {l.out});
}

Status check_layout(const Caller& caller, const char* name, WeightLayout layout) noexcept {
  return layout <= WeightLayout::kOutIn
             ? Status{}
             : refuse(StatusCode::kInvalidArgument, caller,
                      "{} is {}, expected a value of WeightLayout", Argument{name}, layout);
}

Status pack_linear(const KernelTable& table, const WeightMatrix& l, PackedLinear& packed) noexcept {
  const std::size_t columns = capped(whole_panels(l.out, table.panel));
  QKV_RETURN_IF_ERROR(packed.panels.reserve(capped_product(columns, l.in)));
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
  packed.format = WeightFormat::kF32;
  return {};
}

std::uint64_t panel_floats(const KernelTable& table, WeightFormat format, Index in) noexcept {
  const auto inputs = static_cast<std::uint64_t>(in);
  const auto panel = static_cast<std::uint64_t>(table.panel);
  constexpr std::uint64_t kInputs = kernels::kInt8Block;
  switch (format) {
    case WeightFormat::kBf16:
      return inputs * (panel / 2);
    case WeightFormat::kInt8:
      return (inputs + kInputs - 1) / kInputs * ((2 + kInputs) * panel / sizeof(float));
    default:
      return inputs * panel;
  }
}

Status reserve_linear(const KernelTable& table, const LinearSize& size,
                      PackedLinear& packed) noexcept {
  PackedLinear built;
  built.in = size.in;
  built.out = size.out;
  built.format = size.format;
  const std::size_t columns = capped(whole_panels(size.out, table.panel));
  const std::size_t floats = capped_product(columns / static_cast<std::size_t>(table.panel),
                                            panel_floats(table, size.format, size.in));
  if (size.bias) {
    QKV_RETURN_IF_ERROR(built.bias.reserve(columns));
    std::memset(built.bias.data(), 0, columns * sizeof(float));
  }
  QKV_RETURN_IF_ERROR(built.panels.reserve(floats));
  std::memset(built.panels.data(), 0, floats * sizeof(float));
  packed = std::move(built);
  return {};
}

std::size_t quantized_floats(const KernelTable& table, Index rows, Index width) noexcept {
  const Index blocks = (width - 1) / kernels::kInt8Block + 1;
  return capped_product(rows, capped_product(blocks, table.int8.floats_of_row_block));
}

QuantizedRows quantize_rows(const KernelTable& table, ThreadPool* pool, const DenseRows& rows,
                            float* memory) noexcept {
  const auto stride = static_cast<Index>(quantized_floats(table, 1, rows.width));
  share(pool, rows.rows, kShareElements / rows.width + 1, [&](Index begin, Index end) noexcept {
    table.quantize({.rows = end - begin,
                    .k = rows.width,
                    .x = rows.x + begin * rows.width,
                    .to = memory + begin * stride});
  });
  return {memory, stride};
}

void apply(const KernelTable& table, ThreadPool* pool, const PackedLinear& l,
           const LinearRows& to) noexcept {
  apply_columns(table, pool, {l.panels.data(), l.bias.data(), l.in, l.out, l.out, l.format}, to);
}

void apply_columns(const KernelTable& table, ThreadPool* pool, const LinearColumns& l,
                   const LinearRows& to) noexcept {
  // Slices of columns, so that each thread reads its own part of the weights, of which there may be more
  // than caches hold; slices of rows where there are too few columns.
  const Index slice = 8 * table.panel;
  const Index column_slices = (l.out + slice - 1) / slice;
  const double products =
      static_cast<double>(to.rows) * static_cast<double>(l.in) * static_cast<double>(l.out);
  const bool shared = pool && pool->threads() > 1 && products >= kWorthSharing;
  const Index height = shared && column_slices < Index{4} * pool->threads() ? kSliceRows : to.rows;
  const Index row_slices = height > 0 ? (to.rows + height - 1) / height : 0;
  const auto product = product_of(table, l.format);
  const auto panel = static_cast<Index>(panel_floats(table, l.format, l.in));
  const QuantizedRows x =
      l.format == WeightFormat::kInt8 ? *to.quantized : QuantizedRows{to.x, l.in};
  const auto multiply = [&](Index row, Index rows, Index column, Index columns) noexcept {
    product({.m = rows,
             .n = columns,
             .k = l.in,
             .a = x.at + row * x.stride,
             .a_stride = x.stride,
             .b_panels = l.panels + column / table.panel * panel,
             .bias = l.bias ? l.bias + column : nullptr,
             .c = to.y + row * l.y_stride + column,
             .c_stride = l.y_stride});
  };
  if (!shared) {
    multiply(0, to.rows, 0, l.out);
    return;
  }
  pool->run(row_slices * column_slices, [&](Index task, int /*thread*/) noexcept {
    const Index row = task / column_slices * height;
    const Index column = task % column_slices * slice;
    multiply(row, std::min(height, to.rows - row), column, std::min(slice, l.out - column));
  });
}

}  // namespace qkv
