#include "weights/packed_linear.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/float_count.hpp"
#include "check/check.hpp"
#include "weights/formats.hpp"

namespace qkv {

using kernels::KernelTable;
using kernels::PanelFormat;

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

Status reserve_linear(const KernelTable& table, const LinearSize& size,
                      PackedLinear& packed) noexcept {
  PackedLinear built;
  built.in = size.in;
  built.out = size.out;
  built.format = size.format;
  const std::size_t columns = capped(whole_panels(size.out, table.panel));
  const std::size_t panels = columns / static_cast<std::size_t>(table.panel);
  // More inputs than memory holds, and few enough that a panel's floats are counted in 64 bits.
  constexpr auto kMostInputs = static_cast<Index>(std::min(
      std::uint64_t{1} << 56U, static_cast<std::uint64_t>(std::numeric_limits<Index>::max())));
  const std::size_t of_panel =
      capped(panel_floats(format_of(table, size.format), std::min(size.in, kMostInputs)));
  const std::size_t floats = capped_product(panels, of_panel);
  if (size.bias) {
    QKV_RETURN_IF_ERROR(built.bias.reserve(columns));
    std::memset(built.bias.data(), 0, columns * sizeof(float));
  }
  QKV_RETURN_IF_ERROR(built.panels.reserve(floats));
  // Codes of two columns share a byte, which is read when the first of them is written; without zeros there two threads took 1.9
  // times as long to load a file. In all other formats numbers are written without a look at what is there.
  const PanelFormat& format = format_of(table, size.format);
  const bool shares_bytes = format.bits == 4 || format.keep_large;
  const bool has_more = size.out % table.panel != 0;
  const std::size_t from = shares_bytes ? 0 : floats - (has_more ? of_panel : 0);
  std::memset(built.panels.data() + from, 0, (floats - from) * sizeof(float));
  packed = std::move(built);
  return {};
}

}  // namespace qkv
