// Products with weights of each format against float64, and what must not change a bit of them.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

#include "compare.hpp"
#include "packed_problem.hpp"
#include "problem.hpp"
#include "weights/formats.hpp"
#include "weights/linear_product.hpp"
#include "weights/number_blocks.hpp"

namespace qkv::test::weight_product_test {
namespace {

struct Case {
  WeightFormat format;
  Index rows, in, out;
};

const char* name_of(WeightFormat format) {
  switch (format) {
    case WeightFormat::kF32:
      return "product f32";
    case WeightFormat::kBf16:
      return "product bf16";
    case WeightFormat::kF16:
      return "product f16";
    case WeightFormat::kInt8:
      return "product int8";
    case WeightFormat::kInt4:
      return "product int4";
    default:
      return "product q4_k";
  }
}

PackedLinear matrix(const Case& c, std::uint64_t seed) {
  const NumberType type = c.format == WeightFormat::kInt8   ? NumberType::kQ8_0
                          : c.format == WeightFormat::kInt4 ? NumberType::kQ4_1
                          : c.format == WeightFormat::kQ4K  ? NumberType::kQ4K
                                                            : NumberType::kF32;
  PackedLinear packed =
      packed_from({type, WeightLayout::kOutIn, c.out, c.in, seed}, c.format, true);
  Random random(seed + 1);
  for (Index j = 0; j < c.out; ++j) {
    packed.bias.data()[j] = random.uniform();
  }
  return packed;
}

/// The largest |x| of the block of 32 around k.
double block_max(const float* x, Index k, Index in) {
  double most = 0.0;
  for (Index i = k / 32 * 32; i < std::min(in, k / 32 * 32 + 32); ++i) {
    most = std::max(most, std::abs(static_cast<double>(x[i])));
  }
  return most;
}

/// The sizes of the two parts of which the weights of 4 bits are sums: they are multiplied, and rounded, one by one.
std::vector<double> parts_of(const PackedLinear& packed) {
  std::vector<double> sizes;
  for (const float w : weights_of(packed)) {
    sizes.push_back(std::abs(static_cast<double>(w)));
  }
  const kernels::PanelFormat& format = format_of(*active_kernels(), packed.format);
  const bool in_parts = packed.format == WeightFormat::kInt4 || packed.format == WeightFormat::kQ4K;
  for (Index j = 0; in_parts && j < packed.out; ++j) {
    const Index panel = active_kernels()->panel;
    const auto floats = static_cast<Index>(panel_floats(format, packed.in));
    float* at = packed.panels.data() + j / panel * floats;
    for (Index i = 0; i < packed.in; ++i) {
      double& size = sizes[static_cast<std::size_t>(j * packed.in + i)];
      if (packed.format == WeightFormat::kQ4K) {
        std::byte block[144];
        format.take_large({reinterpret_cast<std::byte*>(at), j % panel, i / 256 * 256, 256}, block);
        NumberRun run{};
        block_type(NumberType::kQ4K)->read(block, i % 256 / 32, run);
        size = std::abs(static_cast<double>(run.scale[0])) * run.codes[i % 32] +
               std::abs(static_cast<double>(run.offset[0]));
        continue;
      }
      kernels::CodedBlock block{};
      format.take({reinterpret_cast<std::byte*>(at), j % panel, i / 32 * 32, 32}, block);
      const auto q = static_cast<float>(kernels::number_of(block, i % 32, 4));
      size = static_cast<double>(std::abs(from_f16(block.scale)) * q +
                                 std::abs(from_f16(block.offset)));
    }
  }
  return sizes;
}

/// y against the exact product of x and the packed weights, within the bounds of linear_product.hpp.
void check(const Case& c, const PackedLinear& packed, const std::vector<float>& x,
           const std::vector<float>& y) {
  Quantity quantity(name_of(c.format));
  const std::vector<float> w = weights_of(packed);
  const std::vector<double> parts = parts_of(packed);
  // Sums that are added: of weights of 4 bits two for each block.
  const auto terms =
      static_cast<double>((c.in + 31) / 32 * (c.format == WeightFormat::kInt8 ? 1 : 2));
  const double half_steps = 2.0 * row_most(c.format);
  std::vector<double> most(static_cast<std::size_t>(c.in));
  for (Index r = 0; r < c.rows; ++r) {
    for (Index k = 0; k < c.in; ++k) {
      most[static_cast<std::size_t>(k)] = block_max(x.data() + r * c.in, k, c.in);
    }
    for (Index j = 0; j < c.out; ++j) {
      const auto bias = static_cast<double>(packed.bias.data()[j]);
      double exact = bias;
      double size = std::abs(bias);
      double moved = 0.0;
      double rounded = 0.0;
      for (Index k = 0; k < c.in; ++k) {
        const auto weight = static_cast<double>(w[static_cast<std::size_t>(j * c.in + k)]);
        const auto number = static_cast<double>(x[static_cast<std::size_t>(r * c.in + k)]);
        exact += weight * number;
        const double part = parts[static_cast<std::size_t>(j * c.in + k)];
        size += part * std::abs(number);
        moved += std::abs(weight) * most[static_cast<std::size_t>(k)] / half_steps;
        rounded += part * most[static_cast<std::size_t>(k)] / half_steps;
      }
      const double bound = rounds_rows(c.format) ? moved + 0x1p-24 * (terms + 5) * (size + rounded)
                                                 : 0x1p-24 * static_cast<double>(c.in + 2) * size;
      quantity.add(static_cast<double>(y[static_cast<std::size_t>(r * c.out + j)]), exact, bound);
    }
  }
  require_within(quantity);
}

TEST_CASE("product: within the bound for every format and size", "[weights]") {
  std::uint64_t seed = 1;
  for (const WeightFormat format : kWeightFormats) {
    for (const Index in : {1, 31, 32, 33, 288, 545}) {
      for (const Index out : {1, 7, 8, 9, 33, 64}) {
        for (const Index rows : {1, 2, 3, 4, 5, 13}) {
          CAPTURE(static_cast<int>(format), in, out, rows);
          const Case c{format, rows, in, out};
          const PackedLinear packed = matrix(c, seed);
          Random random(seed + 2);
          const std::vector<float> x = random_floats(random, rows * in);
          check(c, packed, x, product(packed, x));
          seed += 3;
        }
      }
    }
  }
}

TEST_CASE("product: rows of more than one group", "[weights]") {
  for (const WeightFormat format : kWeightFormats) {
    const Case c{format, 390, 40, 9};
    const PackedLinear packed = matrix(c, 5);
    Random random(6);
    const std::vector<float> x = random_floats(random, c.rows * c.in);
    check(c, packed, x, product(packed, x));
  }
}

TEST_CASE("product: a row has the bits it has by itself, in slices and out of them", "[weights]") {
  for (const WeightFormat format : kWeightFormats) {
    for (const Index in : {70, 5000}) {
      const Case c{format, 13, in, 75};
      const PackedLinear packed = matrix(c, 7);
      Random random(9);
      const std::vector<float> x = random_floats(random, c.rows * in);
      const std::vector<float> y = product(packed, x);
      check(c, packed, x, y);
      for (Index r = 0; r < c.rows; ++r) {
        const std::vector<float> row(x.begin() + r * in, x.begin() + (r + 1) * in);
        const std::vector<float> expected(y.begin() + r * c.out, y.begin() + (r + 1) * c.out);
        REQUIRE(first_difference(product(packed, row), expected) == "");
      }
    }
  }
}

/// A block of 32 numbers of a row as the formulas of gemm_int8.hpp and its neighbours have it.
struct RowNumbers {
  RowNumbers(const float* x, Index first, Index in, int most) {
    const auto max = static_cast<float>(block_max(x, first, in));
    scale = max / static_cast<float>(most);
    const float inverse = static_cast<float>(most) / max;
    for (Index i = first; i < std::min(in, first + 32); ++i) {
      numbers[i - first] = static_cast<std::int32_t>(std::nearbyint(x[i] * inverse));
      sum += numbers[i - first];
    }
  }
  /// I of these codes.
  [[nodiscard]] float times(const std::int8_t* codes) const {
    std::int32_t whole = 0;
    for (Index i = 0; i < 32; ++i) {
      whole += numbers[i] * codes[i];
    }
    return static_cast<float>(whole);
  }
  [[nodiscard]] float total() const { return static_cast<float>(sum) * scale; }

  float scale = 0.0F;
  std::int32_t numbers[32] = {};
  std::int32_t sum = 0;
};

/// One element of a product by those formulas, in float32 with two roundings.
float by_the_formula(const FileMatrix& file, const float* x, Index j, float sum, int most) {
  const BlockType& type = *block_type(file.type);
  const Index in = file.width;
  for (Index first = 0; first < in; first += type.inputs) {
    const std::byte* block =
        file.bytes.data() + 1 + j * file.row_bytes + first / type.inputs * type.bytes;
    float scaled = 0.0F;
    float shifted = 0.0F;
    for (Index run = 0; run < type.inputs / 32 && first + 32 * run < in; ++run) {
      const RowNumbers row(x, first + 32 * run, in, most);
      NumberRun of{};
      type.read(block, run, of);
      if (file.type == NumberType::kQ4K) {
        // Scale and offset are whole numbers times those of the block, and read() has their products.
        const float d = from_f16(read_half(block));
        const float least = from_f16(read_half(block + 2));
        const float f = d == 0.0F ? 0.0F : std::nearbyint(of.scale[0] / d);
        const float g = least == 0.0F ? 0.0F : std::nearbyint(-of.offset[0] / least);
        scaled = row.times(of.codes) * f * row.scale + scaled;
        shifted = g * row.total() + shifted;
        continue;
      }
      const float scale = of.scale[0] * row.scale;
      sum = row.times(of.codes) * scale + sum;
      if (file.type == NumberType::kQ4_1) {
        sum = row.total() * of.offset[0] + sum;
      }
    }
    if (file.type == NumberType::kQ4K) {
      sum = from_f16(read_half(block)) * scaled + sum;
      sum = -from_f16(read_half(block + 2)) * shifted + sum;
    }
  }
  return sum;
}

TEST_CASE("product: maps of several formats in one call have the bits that they have alone",
          "[weights]") {
  const kernels::KernelTable& table = *active_kernels();
  for (const Index rows : {1, 9}) {
    const PackedLinear maps[] = {matrix({WeightFormat::kInt8, rows, 70, 33}, 1),
                                 matrix({WeightFormat::kInt4, rows, 70, 50}, 2),
                                 matrix({WeightFormat::kBf16, rows, 70, 21}, 3)};
    Random random(4);
    const std::vector<float> x = random_floats(random, rows * 70);
    AlignedBuffer memory;
    require_ok(memory.reserve(quantized_floats(table, rows, 70)));
    RowKinds kinds;
    for (const PackedLinear& map : maps) {
      kinds.add(table, map);
    }
    const QuantizedRows quantized =
        quantize_rows(table, nullptr, {x.data(), rows, 70}, kinds, memory.data());
    std::vector<float> y[3];
    LinearOutput outputs[3];
    for (std::size_t i = 0; i < 3; ++i) {
      y[i].assign(static_cast<std::size_t>(rows * maps[i].out), kUntouched);
      outputs[i] = {&maps[i], y[i].data()};
    }
    apply_all(table, nullptr, outputs, {x.data(), rows, nullptr, &quantized});
    for (std::size_t i = 0; i < 3; ++i) {
      INFO(format_of(table, maps[i].format).name << ", " << rows << " rows");
      CHECK(first_difference(y[i], product(maps[i], x, nullptr)) == "");
    }
  }
}

TEST_CASE("product: of whole numbers the bits of the formula where madd rounds twice",
          "[weights]") {
  const std::string_view isa = active_isa();
  if (isa != "scalar" && isa != "sse4" && isa != "wasm-simd128") {
    SUCCEED("madd may round once here");
    return;
  }
  const struct {
    WeightFormat format;
    NumberType type;
  } kinds[] = {{WeightFormat::kInt8, NumberType::kQ8_0},
               {WeightFormat::kInt4, NumberType::kQ4_1},
               {WeightFormat::kQ4K, NumberType::kQ4K}};
  for (const Index in : {31, 200, 2600}) {
    for (const auto& [format, type] : kinds) {
      const Case c{format, 6, in, 21};
      const FileMatrix file(type, WeightLayout::kOutIn, c.out, in, 11);
      const PackedLinear packed = matrix(c, 11);
      Random random(12);
      const std::vector<float> x = random_floats(random, c.rows * in);
      std::vector<float> expected;
      for (Index r = 0; r < c.rows; ++r) {
        for (Index j = 0; j < c.out; ++j) {
          expected.push_back(
              by_the_formula(file, x.data() + r * in, j, packed.bias.data()[j], 127));
        }
      }
      CHECK(first_difference(product(packed, x), expected) == "");
    }
  }
}

TEST_CASE("product: the largest whole numbers are exact", "[weights]") {
  // -128 times the largest number of a row everywhere: a sum that saturated in 16 bits, or a weight whose sign cannot be turned,
  // would show.
  const auto most = static_cast<float>(row_most(WeightFormat::kInt8));
  for (const int weight : {-128, -127, 127}) {
    for (const float sign : {1.0F, -1.0F}) {
      FileMatrix file(NumberType::kInt8, WeightLayout::kOutIn, 40, 64, 1);
      std::fill(file.bytes.begin(), file.bytes.end(), static_cast<std::byte>(weight));
      for (std::size_t i = 1; i < file.scales.size(); i += 2) {
        const std::uint16_t one = 0x3c00;
        std::memcpy(file.scales.data() + i, &one, sizeof one);
      }
      const PackedLinear packed = packed_from(file, WeightFormat::kInt8);
      const std::vector<float> y = product(packed, std::vector<float>(2 * 64, most * sign));
      REQUIRE(y == std::vector<float>(80, 64.0F * most * sign * static_cast<float>(weight)));
    }
  }
}

TEST_CASE("product: the largest codes are exact", "[weights]") {
  // 15 times 127 everywhere, in rows of both signs.
  for (const float sign : {1.0F, -1.0F}) {
    FileMatrix file(NumberType::kQ4_1, WeightLayout::kOutIn, 40, 64, 1);
    for (Index b = 0; b < 2 * 40; ++b) {
      std::byte* block = file.bytes.data() + 1 + b * 20;
      std::memset(block, 255, 20);
      const std::uint16_t scale_and_offset[2] = {0x3c00, 0};
      std::memcpy(block, scale_and_offset, sizeof scale_and_offset);
    }
    const PackedLinear packed = packed_from(file, WeightFormat::kInt4);
    for (const Index rows : {1, 5}) {
      const std::vector<float> x(static_cast<std::size_t>(rows * 64), 127.0F * sign);
      const std::vector<float> expected(static_cast<std::size_t>(rows * 40),
                                        64.0F * 15.0F * 127.0F * sign);
      REQUIRE(product(packed, x) == expected);
    }
  }
}

TEST_CASE("product: NaN and infinity in one row stay in that row", "[weights]") {
  for (const WeightFormat format : kWeightFormats) {
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      const Case c{format, 6, 75, 20};
      const PackedLinear packed = matrix(c, 13);
      Random random(14);
      std::vector<float> x = random_floats(random, c.rows * c.in);
      const std::vector<float> before = product(packed, x);
      x[static_cast<std::size_t>(2 * c.in + 70)] = bad;
      const std::vector<float> after = product(packed, x);
      for (std::size_t i = 0; i < after.size(); ++i) {
        const bool touched = i / 20 == 2;
        REQUIRE(std::isfinite(after[i]) != touched);
        REQUIRE((touched || after[i] == before[i]));
        REQUIRE((!touched || !rounds_rows(format) || std::isnan(after[i])));
      }
    }
  }
}

TEST_CASE("product: rows of zeros and of next to nothing", "[weights]") {
  for (const WeightFormat format : kWeightFormats) {
    const Case c{format, 1, 40, 9};
    const PackedLinear packed = matrix(c, 15);
    const std::vector<float> bias(packed.bias.data(), packed.bias.data() + c.out);
    CHECK(product(packed, std::vector<float>(40, 0.0F)) == bias);
    CHECK(product(packed, std::vector<float>(40, -0.0F)) == bias);
    CHECK(product(packed, std::vector<float>(40, std::numeric_limits<float>::denorm_min())) ==
          bias);
    CHECK(product(packed, std::vector<float>(40, 0x1p-119F)) == bias);
  }
}

}  // namespace
}  // namespace qkv::test::weight_product_test
