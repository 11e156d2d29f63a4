#include "weights/linear_product.hpp"

#include <algorithm>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "weights/packed_linear.hpp"

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
