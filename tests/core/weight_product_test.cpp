// Products with weights of each format against float64, and what must not change a bit of them.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

#include "compare.hpp"
#include "packed_problem.hpp"
#include "problem.hpp"
#include "weights/formats.hpp"
#include "weights/linear_product.hpp"

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
    default:
      return "product int4";
  }
}

PackedLinear matrix(const Case& c, std::uint64_t seed) {
  const NumberType type = c.format == WeightFormat::kInt8   ? NumberType::kQ8_0
                          : c.format == WeightFormat::kInt4 ? NumberType::kQ4_1
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
  for (Index j = 0; packed.format == WeightFormat::kInt4 && j < packed.out; ++j) {
    const Index panel = active_kernels()->panel;
    const auto floats = static_cast<Index>(panel_floats(format, packed.in));
    float* at = packed.panels.data() + j / panel * floats;
    for (Index i = 0; i < packed.in; ++i) {
      kernels::CodedBlock block{};
      format.take({reinterpret_cast<std::byte*>(at), j % panel, i / 32 * 32, 32}, block);
      const float q = block.numbers[i % 32];
      sizes[static_cast<std::size_t>(j * packed.in + i)] = static_cast<double>(
          std::abs(from_f16(block.scale)) * q + std::abs(from_f16(block.offset)));
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
      static_cast<double>((c.in + 31) / 32 * (c.format == WeightFormat::kInt4 ? 2 : 1));
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
        moved += std::abs(weight) * most[static_cast<std::size_t>(k)] / 126.0;
        rounded += part * most[static_cast<std::size_t>(k)] / 126.0;
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
    for (const Index in : {1, 31, 32, 33, 288}) {
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

/// A product by the formulas of gemm_int8.hpp and gemm_int4.hpp, in float32 with two roundings.
std::vector<float> by_the_formula(const PackedLinear& packed, const FileMatrix& file,
                                  const std::vector<float>& x) {
  const Index in = packed.in;
  std::vector<float> y;
  for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(in)) {
    for (Index j = 0; j < packed.out; ++j) {
      float sum = packed.bias.data()[j];
      for (Index first = 0; first < in; first += 32) {
        const auto max = static_cast<float>(block_max(x.data() + row, first, in));
        const float s = max / 63.0F;
        const float inverse = 63.0F / max;
        const bool nibbles = file.type == NumberType::kQ4_1;
        const std::byte* block =
            file.bytes.data() + 1 + j * file.row_bytes + first / 32 * (nibbles ? 20 : 34);
        std::int32_t whole = 0;
        std::int32_t row_sum = 0;
        for (Index i = first; i < std::min(in, first + 32); ++i) {
          const float q = std::nearbyint(x[row + static_cast<std::size_t>(i)] * inverse);
          const Index at = i - first;
          const int weight =
              nibbles ? std::to_integer<int>(block[4 + at % 16]) >> (at < 16 ? 0 : 4) & 15
                      : std::to_integer<std::int8_t>(block[2 + at]);
          whole += static_cast<std::int32_t>(q) * weight;
          row_sum += static_cast<std::int32_t>(q);
        }
        const float scale = from_f16(read_half(block)) * s;
        const float product = static_cast<float>(whole) * scale;
        sum = product + sum;
        if (nibbles) {
          const float total = static_cast<float>(row_sum) * s;
          const float shift = total * from_f16(read_half(block + 2));
          sum = shift + sum;
        }
      }
      y.push_back(sum);
    }
  }
  return y;
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
    const QuantizedRows quantized =
        quantize_rows(table, nullptr, {x.data(), rows, 70}, memory.data());
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
  for (const Index in : {31, 200, 2600}) {
    for (const WeightFormat format : {WeightFormat::kInt8, WeightFormat::kInt4}) {
      const Case c{format, 6, in, 21};
      const NumberType type = format == WeightFormat::kInt8 ? NumberType::kQ8_0 : NumberType::kQ4_1;
      const FileMatrix file(type, WeightLayout::kOutIn, c.out, in, 11);
      const PackedLinear packed = matrix(c, 11);
      Random random(12);
      const std::vector<float> x = random_floats(random, c.rows * in);
      CHECK(first_difference(product(packed, x), by_the_formula(packed, file, x)) == "");
    }
  }
}

TEST_CASE("product: the largest whole numbers are exact", "[weights]") {
  // -128 times 63 everywhere: a sum that saturated in 16 bits, or a weight whose sign cannot be turned, would show.
  for (const int weight : {-128, -127, 127}) {
    for (const float sign : {1.0F, -1.0F}) {
      FileMatrix file(NumberType::kInt8, WeightLayout::kOutIn, 40, 64, 1);
      std::fill(file.bytes.begin(), file.bytes.end(), static_cast<std::byte>(weight));
      for (std::size_t i = 1; i < file.scales.size(); i += 2) {
        const std::uint16_t one = 0x3c00;
        std::memcpy(file.scales.data() + i, &one, sizeof one);
      }
      const PackedLinear packed = packed_from(file, WeightFormat::kInt8);
      const std::vector<float> y = product(packed, std::vector<float>(2 * 64, 63.0F * sign));
      REQUIRE(y == std::vector<float>(80, 64.0F * 63.0F * sign * static_cast<float>(weight)));
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
