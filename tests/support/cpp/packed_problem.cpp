#include "packed_problem.hpp"

#include <catch2/catch_test_macros.hpp>

#include "problem.hpp"
#include "weights/formats.hpp"
#include "weights/linear_product.hpp"
#include "weights/packed_linear.hpp"
#include "weights/raised_halves.hpp"

namespace qkv::test {

int row_most(WeightFormat format) {
  const kernels::KernelTable& table = *active_kernels();
  if (format != WeightFormat::kInt8) {
    return 127;
  }
  // Of a row of 1 the scale, with which a quantised block begins, is 1 / most.
  const std::vector<float> ones(32, 1.0F);
  AlignedBuffer memory;
  require_ok(memory.reserve(quantized_floats(table, 1, 32)));
  RowKinds kinds;
  kinds.wanted[static_cast<std::size_t>(format_of(table, format).rows)] = true;
  static_cast<void>(quantize_rows(table, nullptr, {ones.data(), 1, 32}, kinds, memory.data()));
  const int most = memory.data()[0] > 0.01F ? 63 : 127;
  REQUIRE(memory.data()[0] == 1.0F / static_cast<float>(most));
  return most;
}

PackedLinear packed_from(const FileMatrix& file, WeightFormat format, bool bias) {
  const kernels::KernelTable& table = *active_kernels();
  PackedLinear packed;
  require_ok(reserve_linear(
      table, {.in = file.in(), .out = file.out(), .format = format, .bias = bias}, packed));
  const bool finite = fill_matrix(table, file.all(), packed);
  CHECK(finite);
  raise_halves(table, packed, nullptr);
  return packed;
}

std::vector<float> weights_of(const PackedLinear& packed) {
  std::vector<float> weights(static_cast<std::size_t>(packed.in * packed.out));
  for (Index j = 0; j < packed.out; ++j) {
    read_column(*active_kernels(), packed, j, weights.data() + j * packed.in);
  }
  return weights;
}

std::vector<float> product(const PackedLinear& packed, const std::vector<float>& x,
                           ThreadPool* pool) {
  const kernels::KernelTable& table = *active_kernels();
  const Index rows = static_cast<Index>(x.size()) / packed.in;
  std::vector<float> y(static_cast<std::size_t>(rows * packed.out), kUntouched);
  AlignedBuffer memory;
  QuantizedRows quantized{};
  const bool bytes = rounds_rows(packed.format);
  if (bytes) {
    require_ok(memory.reserve(quantized_floats(table, rows, packed.in)));
    RowKinds kinds;
    kinds.add(table, packed);
    quantized = quantize_rows(table, pool, {x.data(), rows, packed.in}, kinds, memory.data());
  }
  apply(table, pool, packed,
        {bytes ? nullptr : x.data(), rows, y.data(), bytes ? &quantized : nullptr});
  return y;
}

}  // namespace qkv::test
