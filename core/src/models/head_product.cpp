#include "models/head_product.hpp"

#include <algorithm>

#include "base/share.hpp"
#include "weights/weight_rows.hpp"

namespace qkv {

void HeadProduct::multiply(const kernels::KernelTable& table, const Rows& of) const noexcept {
  const Index blocks = (wo.out + kColumns - 1) / kColumns;
  for_each_task(pool, blocks, [&](Index block, int thread) noexcept {
    const Index first = block * kColumns;
    const Index count = std::min(kColumns, wo.out - first);
    float* columns = memory + static_cast<std::size_t>(thread) * floats(wo.in, d_k, 1);
    float* panels = columns + columns_floats(wo.in);
    for (Index j = 0; j < count; ++j) {
      read_column(table, wo, first + j, columns + j * wo.in);
    }
    for (Index h = 0; h * d_k < wo.in; ++h) {
      table.pack({.b = columns + h * d_k,
                  .row_stride = 1,
                  .column_stride = wo.in,
                  .k = d_k,
                  .n = count,
                  .panels = panels});
      table.gemm({.m = of.rows,
                  .n = count,
                  .k = d_k,
                  .a = of.x + h / of.group * d_k,
                  .a_stride = of.x_stride,
                  .b_panels = panels,
                  .bias = nullptr,
                  .c = of.y + h * of.y_head_stride + first,
                  .c_stride = of.y_stride});
    }
  });
}

}  // namespace qkv
