#include "weights/packed_linear.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check.hpp"

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

/// About, without scales.
constexpr Index bytes_of_weight(WeightFormat format) noexcept {
  switch (format) {
    case WeightFormat::kBf16:
      return 2;
    case WeightFormat::kInt8:
      return 1;
    default:
      return 4;
  }
}

/// One of the products with the same rows, of one format.
struct Product {
  LinearColumns l;
  float* y;
};

/// How products are cut: into slices of columns, so that each thread reads its own part of the weights, of which there may
/// be more than caches hold, and into slices of rows where there are too few columns.
struct Slices {
  Index height, width;
  [[nodiscard]] Index of_columns(const Product& p) const noexcept {
    return (p.l.out + width - 1) / width;
  }
};

/// All products in one go of the pool, or by the caller alone.
void multiply(const KernelTable& table, ThreadPool* pool, std::span<const Product> products,
              const LinearRows& from) noexcept {
  const auto& [panels, bias, in, out, stride, format] = products[0].l;
  Index all = 0;
  for (const Product& p : products) {
    all += p.l.out;
  }
  const Index bytes = bytes_of_weight(format);
  const bool shared = worth_sharing(pool, static_cast<double>(from.rows + bytes) *
                                              static_cast<double>(in) * static_cast<double>(all));
  Slices slices = {std::max<Index>(from.rows, 1), shared ? 8 * table.panel : all};
  Index columns = 0;
  for (const Product& p : products) {
    columns += slices.of_columns(p);
  }
  if (shared && columns < Index{4} * pool->threads()) {
    slices.height = kSliceRows;
  }
  const auto product = product_of(table, format);
  const auto panel = static_cast<Index>(panel_floats(table, format, in));
  const QuantizedRows x =
      format == WeightFormat::kInt8 ? *from.quantized : QuantizedRows{from.x, in};
  share_in_order(shared ? pool : nullptr, (from.rows + slices.height - 1) / slices.height * columns,
                 [&](Index i) noexcept {
                   const Index row = i / columns * slices.height;
                   Index slice = i % columns;
                   const Product* p = products.data();
                   for (; slice >= slices.of_columns(*p); ++p) {
                     slice -= slices.of_columns(*p);
                   }
                   const Index column = slice * slices.width;
                   product({.m = std::min(slices.height, from.rows - row),
                            .n = std::min(slices.width, p->l.out - column),
                            .k = in,
                            .a = x.at + row * x.stride,
                            .a_stride = x.stride,
                            .b_panels = p->l.panels + column / table.panel * panel,
                            .bias = p->l.bias ? p->l.bias + column : nullptr,
                            .c = p->y + row * p->l.y_stride + column,
                            .c_stride = p->l.y_stride});
                 });
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
  // More inputs than memory holds, and few enough that a panel's floats are counted in 64 bits.
  constexpr auto kMostInputs = static_cast<Index>(std::min(
      std::uint64_t{1} << 56U, static_cast<std::uint64_t>(std::numeric_limits<Index>::max())));
  const std::size_t floats =
      capped_product(columns / static_cast<std::size_t>(table.panel),
                     panel_floats(table, size.format, std::min(size.in, kMostInputs)));
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
  const LinearOutput one = {&l, to.y};
  apply_all(table, pool, {&one, 1}, to);
}

void apply_all(const KernelTable& table, ThreadPool* pool, std::span<const LinearOutput> maps,
               const LinearRows& from) noexcept {
  Product products[kMostMaps];
  std::size_t count = 0;
  for (const auto& [map, y] : maps) {
    products[count++] = {
        {map->panels.data(), map->bias.data(), map->in, map->out, map->out, map->format}, y};
  }
  multiply(table, pool, {products, count}, from);
}

void apply_columns(const KernelTable& table, ThreadPool* pool, const LinearColumns& l,
                   const LinearRows& to) noexcept {
  const Product one = {l, to.y};
  multiply(table, pool, {&one, 1}, to);
}

}  // namespace qkv
