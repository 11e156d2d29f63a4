#include "weights/linear_product.hpp"

#include <algorithm>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "weights/formats.hpp"

namespace qkv {

using kernels::KernelTable;
using kernels::PanelFormat;
using kernels::RowKind;
using kernels::RowQuantizer;

namespace {

/// Rows of a slice: whole tiles of every instruction set.
constexpr Index kSliceRows = 48;

/// Panels of a slice. With fewer than a quarter of them a single row waits for its sums.
constexpr Index kMostPanels = 8;

/// One of the products with the same rows.
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

/// Rows of x as the product with one matrix reads them.
struct ProductRows {
  const PanelFormat* format;
  const float* x;
  Index stride;
};

ProductRows rows_of(const KernelTable& table, const LinearColumns& l,
                    const LinearRows& from) noexcept {
  const PanelFormat& format = format_of(table, l.format);
  if (format.rows == RowKind::kFloats) {
    return {&format, from.x, l.in};
  }
  const QuantizedRows::Kind& kind = from.quantized->kinds[static_cast<std::size_t>(format.rows)];
  return {&format, kind.at, kind.stride};
}

/// All products in one go of the pool, or by the caller alone.
void multiply(const KernelTable& table, ThreadPool* pool, std::span<const Product> products,
              const LinearRows& from) noexcept {
  Index all = 0;
  double work = 0.0;
  for (const Product& p : products) {
    const double bytes = bytes_of_weight(table, format_of(table, p.l.format));
    all += p.l.out;
    work += (static_cast<double>(from.rows) + bytes) * static_cast<double>(p.l.in) *
            static_cast<double>(p.l.out);
  }
  const bool shared = worth_sharing(pool, work);
  Slices slices = {std::max<Index>(from.rows, 1), all};
  if (shared) {
    // Of few rows, which are not cut, there should be some slices for each thread.
    const Index fair = all / (Index{4} * pool->threads() * table.panel);
    const Index panels = from.rows > kSliceRows || fair >= kMostPanels ? kMostPanels
                         : fair >= kMostPanels / 2                     ? kMostPanels / 2
                                                                       : kMostPanels / 4;
    slices.width = panels * table.panel;
  }
  Index columns = 0;
  for (const Product& p : products) {
    columns += slices.of_columns(p);
  }
  if (shared && columns < Index{4} * pool->threads()) {
    slices.height = kSliceRows;
  }
  share_in_order(shared ? pool : nullptr, (from.rows + slices.height - 1) / slices.height * columns,
                 [&](Index i) noexcept {
                   const Index row = i / columns * slices.height;
                   Index slice = i % columns;
                   const Product* p = products.data();
                   for (; slice >= slices.of_columns(*p); ++p) {
                     slice -= slices.of_columns(*p);
                   }
                   const Index column = slice * slices.width;
                   const auto [format, x, stride] = rows_of(table, p->l, from);
                   const auto panel = static_cast<Index>(panel_floats(*format, p->l.in));
                   format->product({.m = std::min(slices.height, from.rows - row),
                                    .n = std::min(slices.width, p->l.out - column),
                                    .k = p->l.in,
                                    .a = x + row * stride,
                                    .a_stride = stride,
                                    .b_panels = p->l.panels + column / table.panel * panel,
                                    .bias = p->l.bias ? p->l.bias + column : nullptr,
                                    .c = p->y + row * p->l.y_stride + column,
                                    .c_stride = p->l.y_stride,
                                    .raised = p->l.raised});
                 });
}

}  // namespace

namespace {

/// Whether both kinds of rows are the same.
bool one_kind(const KernelTable& table) noexcept {
  return table.quantizers[0].quantize == table.quantizers[1].quantize;
}

/// Floats of a row.
std::size_t row_floats(const RowQuantizer& quantizer, Index width) noexcept {
  return capped_product((width - 1) / kernels::kInt8Block + 1, quantizer.block_floats);
}

}  // namespace

bool reads_quantized_rows(const KernelTable& table, const PackedLinear& map) noexcept {
  return format_of(table, map.format).rows != RowKind::kFloats;
}

void RowKinds::add(const KernelTable& table, const PackedLinear& map) noexcept {
  const RowKind kind = format_of(table, map.format).rows;
  if (kind != RowKind::kFloats) {
    wanted[static_cast<std::size_t>(kind)] = true;
  }
}

std::size_t quantized_floats(const KernelTable& table, Index rows, Index width) noexcept {
  std::size_t floats = 0;
  for (const RowQuantizer& quantizer : table.quantizers) {
    floats = capped_sum({one_kind(table) ? 0 : floats, row_floats(quantizer, width)});
  }
  return capped_product(rows, floats);
}

QuantizedRows quantize_rows(const KernelTable& table, ThreadPool* pool, const DenseRows& rows,
                            const RowKinds& kinds, float* memory) noexcept {
  QuantizedRows made;
  for (std::size_t kind = 0; kind < kernels::kQuantizedKinds; ++kind) {
    if (!kinds.wanted[kind]) {
      continue;
    }
    const RowQuantizer& quantizer = table.quantizers[kind];
    const auto stride = static_cast<Index>(row_floats(quantizer, rows.width));
    share(pool, rows.rows, kShareElements / rows.width + 1, [&](Index begin, Index end) noexcept {
      quantizer.quantize({.rows = end - begin,
                          .k = rows.width,
                          .x = rows.x + begin * rows.width,
                          .to = memory + begin * stride});
    });
    made.kinds[kind] = {memory, stride};
    memory += rows.rows * stride;
  }
  return made;
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
    products[count++] = {columns_of(*map), y};
  }
  multiply(table, pool, {products, count}, from);
}

void apply_columns(const KernelTable& table, ThreadPool* pool, const LinearColumns& l,
                   const LinearRows& to) noexcept {
  const Product one = {l, to.y};
  multiply(table, pool, {&one, 1}, to);
}

}  // namespace qkv
