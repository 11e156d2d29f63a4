// Steps with the weights of a model that is not trained: packed matrices, of any format.
#include <algorithm>

#include "base/share.hpp"
#include "rows/over_rows.hpp"
#include "train/tape/tape.hpp"
#include "weights/linear_product.hpp"
#include "weights/packed_linear.hpp"
#include "weights/weight_rows.hpp"

namespace qkv::train {
namespace {

/// Most weights that are unpacked at a time, if that is not less than the smallest part.
constexpr Index kMostUnpacked = Index{1} << 20;
/// Inputs of the smallest part: a block of every format.
constexpr Index kPartInputs = 32;
/// Those of the largest block, which is read at once where there is room.
constexpr Index kLargestBlock = 256;

/// A part of a matrix, unpacked.
struct Unpacked {
  float* numbers;  ///< as they are read
  float* panels;   ///< as products read them
};

/// Floats for `columns` columns of `k` numbers, as numbers and as panels.
std::size_t unpacked_floats(const kernels::KernelTable& table, Index columns, Index k) noexcept {
  const std::size_t numbers = capped_product(columns, k);
  const std::size_t panels = capped_product(whole_panels(columns, table.panel), k);
  return capped_sum({Workspace::padded(numbers), Workspace::padded(panels)});
}

Unpacked take_unpacked(const kernels::KernelTable& table, Index columns, Index k,
                       Workspace& workspace) noexcept {
  float* numbers = workspace.take(capped_product(columns, k));
  return {numbers, workspace.take(capped_product(whole_panels(columns, table.panel), k))};
}

/// Columns of W that are unpacked at a time.
Index columns_at_once(const kernels::KernelTable& table, const PackedLinear& w) noexcept {
  const Index fit = kMostUnpacked / w.in / table.panel * table.panel;
  return std::min(w.out, std::max(table.panel, fit));
}

/// Rows of W that are unpacked at a time.
Index inputs_at_once(const PackedLinear& w) noexcept {
  const Index fit = kMostUnpacked / w.out;
  const Index unit = fit >= kLargestBlock ? kLargestBlock : kPartInputs;
  return std::min(w.in, std::max(unit, fit / unit * unit));
}

/// y = x W + b in float32. Formats whose products round rows of x are unpacked: a gradient is that of what is computed.
Status multiply_forward(const Pass& pass) noexcept {
  const PackedLinear& w = *pass.step.as<MultiplyStep>().map;
  const kernels::KernelTable& table = *pass.kernels.forward;
  ThreadPool* pool = pass.workspace.pool();
  const float* x = pass.in(0).value;
  const Index rows = pass.out().rows;
  if (!reads_quantized_rows(table, w)) {
    apply(table, pool, w, {.x = x, .rows = rows, .y = pass.out().value});
    return {};
  }
  const Index width = columns_at_once(table, w);
  QKV_RETURN_IF_ERROR(pass.workspace.begin(unpacked_floats(table, width, w.in)));
  const Unpacked part = take_unpacked(table, width, w.in, pass.workspace);
  for (Index first = 0; first < w.out; first += width) {
    const Index count = std::min(width, w.out - first);
    share(pool, count, table.panel, [&](Index begin, Index end) noexcept {
      for (Index j = begin; j < end; ++j) {
        read_column(table, w, first + j, part.numbers + j * w.in);
      }
      table.pack({.b = part.numbers + begin * w.in,
                  .row_stride = 1,
                  .column_stride = w.in,
                  .k = w.in,
                  .n = end - begin,
                  .panels = part.panels + begin * w.in});
    });
    const float* bias = w.bias.data() ? w.bias.data() + first : nullptr;
    apply_columns(table, pool, {part.panels, bias, w.in, count, w.out},
                  {.x = x, .rows = rows, .y = pass.out().value + first});
  }
  return {};
}

/// dx = dy W^T, of which inputs are columns.
Status multiply_back(const Pass& pass) noexcept {
  const PackedLinear& w = *pass.step.as<MultiplyStep>().map;
  const kernels::KernelTable& table = *pass.kernels.forward;
  ThreadPool* pool = pass.workspace.pool();
  const Index width = inputs_at_once(w);
  QKV_RETURN_IF_ERROR(pass.workspace.begin(unpacked_floats(table, width, w.out)));
  const Unpacked part = take_unpacked(table, width, w.out, pass.workspace);
  for (Index first = 0; first < w.in; first += width) {
    const Index count = std::min(width, w.in - first);
    share(pool, w.out, table.panel, [&](Index begin, Index end) noexcept {
      for (Index j = begin; j < end; ++j) {
        read_inputs(table, w, {j, first, count}, part.numbers + j * count);
      }
    });
    share(pool, count, table.panel, [&](Index begin, Index end) noexcept {
      table.pack({.b = part.numbers + begin,
                  .row_stride = count,
                  .column_stride = 1,
                  .k = w.out,
                  .n = end - begin,
                  .panels = part.panels + begin * w.out});
    });
    apply_columns(
        table, pool, {part.panels, nullptr, w.out, count, w.in},
        {.x = pass.out().gradient, .rows = pass.out().rows, .y = pass.gradient(0) + first});
  }
  return {};
}

Status look_up_forward(const Pass& pass) noexcept {
  const auto& [table, factor] = pass.step.as<LookUpStep>();
  const TapeArray& out = pass.out();
  for (Index r = 0; r < out.rows; ++r) {
    float* row = out.value + r * out.width;
    read_column(*pass.kernels.forward, *table, pass.inputs.ids[r], row);
    for (Index i = 0; factor != 1.0F && i < out.width; ++i) {
      row[i] *= factor;
    }
  }
  return {};
}

Status look_up_back(const Pass& /*pass*/) noexcept { return {}; }

void scale_numbers(const Pass& pass, const float* from, float* to) noexcept {
  const float factor = pass.step.as<ScaleStep>().factor;
  std::transform(from, from + pass.out().size(), to, [=](float x) { return x * factor; });
}

Status scale_forward(const Pass& pass) noexcept {
  scale_numbers(pass, pass.in(0).value, pass.out().value);
  return {};
}

Status scale_back(const Pass& pass) noexcept {
  scale_numbers(pass, pass.out().gradient, pass.gradient(0));
  return {};
}

constexpr Operation kMultiply = {multiply_forward, multiply_back};
constexpr Operation kLookUp = {look_up_forward, look_up_back};
constexpr Operation kScale = {scale_forward, scale_back};

}  // namespace

ArrayId multiply(Tape& tape, ArrayId x, const PackedLinear& map) noexcept {
  Step step;
  step.operation = &kMultiply;
  step.in[0] = x;
  step.of = MultiplyStep{&map};
  return tape.record(step, tape.rows(x), map.out);
}

ArrayId look_up(Tape& tape, const PackedLinear& table, Index rows, float factor) noexcept {
  Step step;
  step.operation = &kLookUp;
  step.of = LookUpStep{&table, factor};
  return tape.record(step, rows, table.in);
}

ArrayId scale(Tape& tape, ArrayId x, float factor) noexcept {
  return tape.record_alike(kScale, x, ScaleStep{factor});
}

}  // namespace qkv::train
