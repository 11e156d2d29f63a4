// Weights from files: every type to every format, and the conversions of single numbers.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

#include "compare.hpp"
#include "packed_problem.hpp"
#include "problem.hpp"
#include "qkv/threads.hpp"
#include "thread_count.hpp"
#include "weights/formats.hpp"
#include "weights/packed_linear.hpp"
#include "weights/raised_halves.hpp"

namespace qkv::test::weight_format_test {
namespace {

/// By the definition of binary16: (-1)^s 2^(e - 15) (1 + m / 1024), or m 2^-24 for e = 0.
double exact_f16(unsigned bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>((bits >> 10U) & 31U);
  const double mantissa = bits & 0x3ffU;
  if (exponent == 31) {
    return mantissa == 0.0 ? sign * INFINITY : NAN;
  }
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(1.0 + mantissa / 1024.0, exponent - 15);
}

TEST_CASE("weights: binary16 to float32 is exact for all 65,536 numbers", "[weights][any-isa]") {
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double exact = exact_f16(bits);
    const float number = from_f16(half);
    REQUIRE((std::isnan(exact) ? std::isnan(number) : static_cast<double>(number) == exact));
    REQUIRE(std::signbit(number) == (bits >= 0x8000U));
    REQUIRE(is_finite_f16(half) == std::isfinite(exact));
    REQUIRE((std::isnan(exact) ? std::isnan(from_f16(to_f16(number))) : to_f16(number) == half));
  }
}

TEST_CASE("weights: float32 to binary16 rounds to the nearest, ties to even",
          "[weights][any-isa]") {
  // Between two neighbours: below the middle, at it, above it.
  for (unsigned bits = 0; bits < 0x7bffU; ++bits) {
    const double low = exact_f16(bits);
    const double high = exact_f16(bits + 1);
    const auto middle = static_cast<float>((low + high) / 2.0);
    REQUIRE(static_cast<double>(middle) == (low + high) / 2.0);
    const unsigned even = (bits & 1U) == 0 ? bits : bits + 1;
    for (const unsigned sign : {0U, 0x8000U}) {
      const float s = sign == 0 ? 1.0F : -1.0F;
      REQUIRE(to_f16(s * middle) == (even | sign));
      REQUIRE(to_f16(s * std::nextafter(middle, 0.0F)) == (bits | sign));
      REQUIRE(to_f16(s * std::nextafter(middle, INFINITY)) == ((bits + 1) | sign));
    }
  }
  CHECK(to_f16(65519.996F) == 0x7bffU);
  CHECK(to_f16(65520.0F) == 0x7c00U);
  CHECK(to_f16(-INFINITY) == 0xfc00U);
  CHECK(to_f16(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(!is_finite_f16(to_f16(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("weights: float32 to bfloat16 rounds to the nearest, ties to even; NaN stays",
          "[weights][any-isa]") {
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto low = static_cast<std::uint16_t>(random.next() & 0x7fffU);
    if (low >= 0x7f7fU) {
      continue;
    }
    const auto high = static_cast<std::uint16_t>(low + 1);
    const auto middle = std::bit_cast<float>((std::uint32_t{low} << 16U) | 0x8000U);
    REQUIRE(to_bf16(middle) == ((low & 1U) == 0 ? low : high));
    REQUIRE(to_bf16(std::nextafter(middle, 0.0F)) == low);
    REQUIRE(to_bf16(std::nextafter(middle, INFINITY)) == high);
    REQUIRE(to_bf16(-std::nextafter(middle, INFINITY)) == (high | 0x8000U));
    REQUIRE(to_bf16(from_bf16(low)) == low);
  }
  CHECK(from_bf16(to_bf16(INFINITY)) == INFINITY);
  CHECK(from_bf16(to_bf16(std::numeric_limits<float>::max())) == INFINITY);
  for (const std::uint32_t nan : {0x7f800001U, 0xffffffffU, 0x7fffffffU, 0xff800001U}) {
    CHECK(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(nan)))));
  }
}

/// (max - min) / parts as a scale in binary16: a step more where those are subnormal and it would cut the largest.
float scale_of(float span, float parts) {
  const float near = from_f16(to_f16(span / parts));
  return near < 0x1p-14F && near * parts < span ? near + 0x1p-24F : near;
}

/// q in [least, most] to the nearest, and 0 where there is no scale.
float whole(float w, float d, float least, float most) {
  return d == 0.0F ? 0.0F : std::clamp(std::nearbyint(w / d), least, most) + 0.0F;
}

/// What weights of a block have to become.
float expected_weight(const std::vector<float>& block, std::size_t i, WeightFormat format) {
  const float w = block[i];
  const float least = *std::min_element(block.begin(), block.end());
  const float greatest = *std::max_element(block.begin(), block.end());
  switch (format) {
    case WeightFormat::kF32:
      return w;
    case WeightFormat::kBf16:
      return from_bf16(to_bf16(w));
    case WeightFormat::kF16:
      return from_f16(to_f16(w));
    case WeightFormat::kInt8: {
      const float d = scale_of(std::abs(std::max(-least, greatest)), 127.0F);
      return d * whole(w, d, -127.0F, 127.0F);
    }
    case WeightFormat::kInt4: {
      const float o = from_f16(to_f16(least));
      const float d = scale_of(std::max(greatest - o, 0.0F), 15.0F);
      return d * whole(w - o, d, 0.0F, 15.0F) + o;
    }
    case WeightFormat::kQ4K:  // takes nothing but its own blocks
      break;
  }
  return NAN;
}

/// The weights of a file as they have to be kept.
std::vector<float> expected_weights(const FileMatrix& file, WeightFormat format) {
  std::vector<float> weights;
  const bool by_output = file.layout == WeightLayout::kOutIn;
  const bool kept_8 =
      file.type == NumberType::kInt8 || (file.type == NumberType::kQ8_0 && by_output);
  const bool kept_4 =
      by_output && (file.type == NumberType::kQ4_0 || file.type == NumberType::kQ4_1);
  const bool as_it_is =
      (format == WeightFormat::kInt8 && kept_8) || (format == WeightFormat::kInt4 && kept_4);
  for (Index j = 0; j < file.out(); ++j) {
    for (Index first = 0; first < file.in(); first += 32) {
      std::vector<float> block;
      for (Index i = first; i < std::min(first + 32, file.in()); ++i) {
        block.push_back(file.at(i, j));
      }
      for (std::size_t i = 0; i < block.size(); ++i) {
        // Of 4 bits zeros are sums, and have no sign.
        const float kept = format == WeightFormat::kInt4 ? block[i] + 0.0F : block[i];
        weights.push_back(as_it_is ? kept : expected_weight(block, i, format));
      }
    }
  }
  return weights;
}

TEST_CASE("weights: every type and layout to every format, at every size", "[weights]") {
  std::uint64_t seed = 1;
  for (const NumberType type : kNumberTypes) {
    for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
      for (const WeightFormat format : kWeightFormats) {
        if (!takes(format, type, layout)) {
          continue;
        }
        for (const Index in : {1, 31, 32, 33, 100}) {
          for (const Index out : {1, 7, 8, 9, 33, 70}) {
            CAPTURE(static_cast<int>(type), static_cast<int>(layout), static_cast<int>(format), in,
                    out);
            const bool by_output = layout == WeightLayout::kOutIn;
            const FileMatrix file(type, layout, by_output ? out : in, by_output ? in : out, seed++);
            REQUIRE(first_difference(weights_of(packed_from(file, format)),
                                     expected_weights(file, format)) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("weights: in parts they are as at once", "[weights]") {
  for (const NumberType type : kNumberTypes) {
    for (const WeightFormat format : kWeightFormats) {
      CAPTURE(static_cast<int>(type), static_cast<int>(format));
      if (!takes(format, type, WeightLayout::kOutIn)) {
        continue;
      }
      const kernels::KernelTable& table = *active_kernels();
      // Rows of outputs, in any pieces.
      const FileMatrix outputs(type, WeightLayout::kOutIn, 41, 67, 1);
      const std::vector<float> whole = weights_of(packed_from(outputs, format));
      PackedLinear packed;
      require_ok(reserve_linear(table, {.in = 67, .out = 41, .format = format}, packed));
      for (const auto& [first, rows] : {std::pair{20, 21}, {0, 1}, {1, 19}}) {
        REQUIRE(fill_matrix(table, outputs.some(first, rows), packed));
      }
      REQUIRE(first_difference(weights_of(packed), whole) == "");
      // Rows of inputs, in pieces of whole blocks.
      const FileMatrix inputs(type, WeightLayout::kInOut, 67, 41, 2);
      const std::vector<float> all = weights_of(packed_from(inputs, format));
      PackedLinear by_input;
      require_ok(reserve_linear(table, {.in = 67, .out = 41, .format = format}, by_input));
      for (const auto& [first, rows] : {std::pair{64, 3}, {0, 32}, {32, 32}}) {
        REQUIRE(fill_matrix(table, inputs.some(first, rows), by_input));
      }
      REQUIRE(first_difference(weights_of(by_input), all) == "");
    }
  }
}

/// The number i of output j as a format keeps it: from the block of the file, or by the formula of the format.
class Kept {
 public:
  Kept(const Bytes& bytes, NumberType type, Index width, WeightFormat format)
      : bytes_(bytes), type_(type), width_(width), format_(format) {}

  /// All weights of an output.
  [[nodiscard]] std::vector<float> row(Index j) const {
    std::vector<float> numbers(static_cast<std::size_t>(width_));
    const std::byte* at = bytes_.data() + j * static_cast<Index>(row_bytes(type_, width_));
    REQUIRE(read_rows({.type = type_, .data = at, .layout = WeightLayout::kInOut, .rows = 1},
                      width_, numbers.data()));
    if (format_ == WeightFormat::kQ4K) {
      return numbers;
    }
    std::vector<float> kept;
    for (Index first = 0; first < width_; first += 32) {
      const auto count = std::min(Index{32}, width_ - first);
      const std::vector<float> block(numbers.begin() + first, numbers.begin() + first + count);
      for (std::size_t i = 0; i < block.size(); ++i) {
        kept.push_back(stays() ? of_block(at, first + static_cast<Index>(i))
                               : expected_weight(block, i, format_));
      }
    }
    return kept;
  }

 private:
  /// Whether blocks go in as they are.
  [[nodiscard]] bool stays() const {
    const bool nibbles =
        type_ == NumberType::kQ4_0 || type_ == NumberType::kQ4_1 || type_ == NumberType::kQ4K;
    const bool bytes =
        type_ == NumberType::kQ8_0 || type_ == NumberType::kQ5_0 || type_ == NumberType::kIq4Nl;
    return (format_ == WeightFormat::kInt8 && bytes) || (format_ == WeightFormat::kInt4 && nibbles);
  }
  /// scale * code + offset, both of them rounded to binary16.
  [[nodiscard]] float of_block(const std::byte* row, Index i) const {
    const BlockType& type = *block_type(type_);
    NumberRun run{};
    type.read(row + i / type.inputs * type.bytes, i % type.inputs / 32, run);
    const int least = type_ == NumberType::kQ4_0 ? -8 : 0;
    const float d = from_f16(to_f16(run.scale[0]));
    const float o = from_f16(to_f16(run.offset[0] + static_cast<float>(least) * run.scale[0]));
    const auto code = static_cast<float>(run.codes[i % 32] - least);
    return format_ == WeightFormat::kInt8 ? d * code : d * code + o;
  }

  const Bytes& bytes_;
  NumberType type_;
  Index width_;
  WeightFormat format_;
};

/// Blocks of a type that are random but for their scales, of which none is infinite: bytes of exponents are kept small.
Bytes random_blocks(NumberType type, std::size_t count, Random& random) {
  Bytes bytes;
  while (bytes.size() < count) {
    append(bytes, static_cast<std::uint8_t>(random.next()));
    // float32: every fourth; 16 bits: every second.
    const bool high = type == NumberType::kF32 ? bytes.size() % 4 == 0 : bytes.size() % 2 == 0;
    if (high) {
      bytes.back() &= std::byte{0xbb};
    }
  }
  return bytes;
}

TEST_CASE("weights: long rows of every type go into every format, by any number of threads",
          "[weights][parallel]") {
  Random random(11);
  const kernels::KernelTable& table = *active_kernels();
  Threads threads(kThreads);
  // More than the inputs that are filled at a time, and more than one panel; a first row in the middle of a panel.
  constexpr Index kOut = 75;
  for (int code = 0; code <= static_cast<int>(NumberType::kIq4Xs); ++code) {
    const auto type = static_cast<NumberType>(code);
    if (type == NumberType::kInt8) {
      continue;
    }
    for (const WeightFormat format : kWeightFormats) {
      if (!takes(format, type, WeightLayout::kOutIn)) {
        continue;
      }
      for (const Index in : {256, 552}) {
        CAPTURE(code, static_cast<int>(format), in);
        const std::size_t width = row_bytes(type, in);
        const Bytes bytes = random_blocks(type, kOut * width, random);
        const Kept kept(bytes, type, in, format);
        for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &threads.pool()}) {
          PackedLinear packed;
          require_ok(reserve_linear(table, {.in = in, .out = kOut, .format = format}, packed));
          for (const auto& [first, rows] : {std::pair{0, 5}, {5, kOut - 5}}) {
            REQUIRE(fill_matrix(table,
                                {.type = type,
                                 .data = bytes.data() + first * static_cast<Index>(width),
                                 .row_bytes = static_cast<Index>(width),
                                 .first = first,
                                 .rows = rows},
                                packed, pool));
          }
          for (Index j = 0; j < kOut; ++j) {
            std::vector<float> found(static_cast<std::size_t>(in));
            read_column(table, packed, j, found.data());
            REQUIRE(first_difference(found, kept.row(j)) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("weights: columns of the last panel that the matrix has not are 0", "[weights]") {
  const kernels::KernelTable& table = *active_kernels();
  for (const WeightFormat format : kWeightFormats) {
    CAPTURE(static_cast<int>(format));
    const LinearSize size{.in = 67, .out = 41, .format = format};
    PackedLinear before;
    require_ok(reserve_linear(table, size, before));
    // What the next block of this size most likely has in it.
    std::memset(before.panels.data(), 0x3c, before.panels.capacity() * sizeof(float));
    before = {};
    PackedLinear packed;
    require_ok(reserve_linear(table, size, packed));
    for (Index j = 41; j % table.panel != 0; ++j) {
      std::vector<float> column(67);
      read_column(table, packed, j, column.data());
      REQUIRE(column == std::vector<float>(67, 0.0F));  // of either sign
    }
  }
}

TEST_CASE("weights: numbers of 16 bits that keep their type are looked at", "[weights]") {
  const kernels::KernelTable& table = *active_kernels();
  for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
    CAPTURE(static_cast<int>(layout));
    const auto filled = [&](NumberType type, WeightFormat format, std::uint16_t bits) {
      FileMatrix file(type, layout, 3, 300, 4);
      std::memcpy(file.bytes.data() + 1 + file.row_bytes + 2 * 290, &bits, sizeof bits);
      PackedLinear packed;
      require_ok(
          reserve_linear(table, {.in = file.in(), .out = file.out(), .format = format}, packed));
      const bool finite = fill_matrix(table, file.all(), packed);
      const bool by_output = layout == WeightLayout::kOutIn;
      std::vector<float> column(static_cast<std::size_t>(packed.in));
      read_column(table, packed, by_output ? 1 : 290, column.data());
      return std::pair{finite, std::bit_cast<std::uint32_t>(column[by_output ? 290 : 1])};
    };
    for (const int bits : {0x7c00, 0xfc00, 0x7c01, 0x7e00}) {
      CHECK(!filled(NumberType::kF16, WeightFormat::kF16, static_cast<std::uint16_t>(bits)).first);
    }
    CHECK(filled(NumberType::kF16, WeightFormat::kF16, 0x8001U) ==
          std::pair{true, std::bit_cast<std::uint32_t>(-0x1p-24F)});
    // Infinity stays, and a signalling NaN becomes a quiet one.
    CHECK(filled(NumberType::kBf16, WeightFormat::kBf16, 0xff80U) == std::pair{true, 0xff800000U});
    CHECK(filled(NumberType::kBf16, WeightFormat::kBf16, 0x7f81U) == std::pair{true, 0x7fc10000U});
  }
}

/// All finite numbers of binary16 below `limit`, of both signs, as rows of one matrix of kF16, and what it makes of them.
struct AllHalves {
  static constexpr Index kWidth = 1024;

  explicit AllHalves(unsigned limit)
      : rows(static_cast<Index>(2 * limit) / kWidth),
        file(NumberType::kF16, WeightLayout::kOutIn, rows, kWidth, 4) {
    for (unsigned bits = 0; bits < 2 * limit; ++bits) {
      halves.push_back(static_cast<std::uint16_t>(bits % 2 * 0x8000U + bits / 2));
    }
    for (Index r = 0; r < rows; ++r) {
      std::memcpy(file.bytes.data() + 1 + r * file.row_bytes, halves.data() + r * kWidth,
                  2 * kWidth);
    }
    require_ok(reserve_linear(*active_kernels(),
                              {.in = kWidth, .out = rows, .format = WeightFormat::kF16}, packed));
    REQUIRE(fill_matrix(*active_kernels(), file.all(), packed));
    Threads threads(kThreads);
    raise_halves(*active_kernels(), packed, &threads.pool());
  }

  /// Row r of the product with x at input k and 0 elsewhere, for every k and r.
  void require_products(float x) const {
    for (Index k = 0; k < kWidth; ++k) {
      std::vector<float> row(kWidth, 0.0F);
      row[static_cast<std::size_t>(k)] = x;
      const std::vector<float> y = product(packed, row);
      for (Index r = 0; r < rows; ++r) {
        const float w = from_f16(halves[static_cast<std::size_t>(r * kWidth + k)]);
        REQUIRE(y[static_cast<std::size_t>(r)] == x * w);
      }
    }
  }

  void require_kept() const {
    for (Index r = 0; r < rows; ++r) {
      std::vector<std::uint16_t> stored(kWidth);
      store_column(*active_kernels(), packed, r, reinterpret_cast<std::byte*>(stored.data()));
      REQUIRE(std::equal(stored.begin(), stored.end(), halves.begin() + r * kWidth));
      std::vector<float> read(kWidth);
      read_column(*active_kernels(), packed, r, read.data());
      for (Index k = 0; k < kWidth; ++k) {
        const float w = from_f16(halves[static_cast<std::size_t>(r * kWidth + k)]);
        REQUIRE(std::bit_cast<std::uint32_t>(read[static_cast<std::size_t>(k)]) ==
                std::bit_cast<std::uint32_t>(w));
      }
    }
  }

  Index rows;
  FileMatrix file;
  std::vector<std::uint16_t> halves;
  PackedLinear packed;
};

TEST_CASE("weights: a matrix of binary16 keeps every number, raised or not",
          "[weights][parallel]") {
  constexpr unsigned kInfinity = 0x7c00;
  constexpr unsigned k128 = 0x5800;
  const bool raises = format_of(*active_kernels(), WeightFormat::kF16).raises;
  const AllHalves small(k128);
  CHECK(small.packed.raised == raises);
  small.require_kept();
  const AllHalves all(kInfinity);
  CHECK(!all.packed.raised);
  all.require_kept();
  // Below and above 2^25, from where on a row is not multiplied by the unit of raised numbers.
  for (const float x : {1.0F, -3.5e-30F, 0x1.8p24F, 0x1p100F}) {
    CAPTURE(x);
    small.require_products(x);
  }
  all.require_products(-1.5F);
}

TEST_CASE("weights: rows of numbers above 2^25, of infinity and of NaN times binary16",
          "[weights]") {
  // Of the formula, in the order of the sums: y = x0 w0 + x1 w1.
  FileMatrix file(NumberType::kF16, WeightLayout::kOutIn, 1, 2, 4);
  const std::uint16_t halves[] = {0x3c00U, 0x0001U};  // 1 and 2^-24
  std::memcpy(file.bytes.data() + 1, halves, sizeof halves);
  PackedLinear packed;
  require_ok(
      reserve_linear(*active_kernels(), {.in = 2, .out = 1, .format = WeightFormat::kF16}, packed));
  REQUIRE(fill_matrix(*active_kernels(), file.all(), packed));
  raise_halves(*active_kernels(), packed, nullptr);
  CHECK(product(packed, {0x1p127F, 0.0F})[0] == 0x1p127F);
  CHECK(product(packed, {0.0F, 0x1p127F})[0] == 0x1p103F);
  CHECK(product(packed, {1.0F, INFINITY})[0] == INFINITY);
  CHECK(product(packed, {-INFINITY, 1.0F})[0] == -INFINITY);
  CHECK(std::isnan(product(packed, {NAN, 1.0F})[0]));
}

TEST_CASE("weights: int8 keeps numbers of every size within half a scale", "[weights]") {
  const kernels::KernelTable& table = *active_kernels();
  // From below the smallest half to the largest size that has a scale, at each of 32 places.
  for (int exponent = -40; exponent <= 22; ++exponent) {
    for (const double mantissa : {1.0, 1.1, 1.3, 1.77, 1.98}) {
      const auto most = static_cast<float>(std::ldexp(mantissa, exponent));
      CAPTURE(most);
      FileMatrix file(NumberType::kF32, WeightLayout::kOutIn, 1, 32, 4);
      for (std::size_t i = 0; i < 32; ++i) {
        file.numbers[i] = most * (1.0F - static_cast<float>(i) / 20.0F);
      }
      std::memcpy(file.bytes.data() + 1, file.numbers.data(), 32 * sizeof(float));
      PackedLinear packed;
      require_ok(
          reserve_linear(table, {.in = 32, .out = 1, .format = WeightFormat::kInt8}, packed));
      REQUIRE(fill_matrix(table, file.all(), packed));
      const std::vector<float> kept = weights_of(packed);
      const double exact = static_cast<double>(most) / 127.0;
      const double d =
          exact < 0x1p-14 ? std::ceil(exact * 0x1p24) * 0x1p-24 : exact * (1.0 + 0x1p-11);
      for (std::size_t i = 0; i < 32; ++i) {
        const auto w = static_cast<double>(file.numbers[i]);
        REQUIRE(std::abs(static_cast<double>(kept[i]) - w) <= 0.5 * d);
      }
    }
  }
}

TEST_CASE("weights: int4 keeps numbers of every range within its bound", "[weights]") {
  for (int exponent = -30; exponent <= 14; ++exponent) {
    for (const float offset : {-1.0F, -0.37F, 0.0F, 0.9F}) {
      CAPTURE(exponent, offset);
      FileMatrix file(NumberType::kF32, WeightLayout::kOutIn, 1, 32, 4);
      for (std::size_t i = 0; i < 32; ++i) {
        const float part = static_cast<float>(i * 7 % 32) / 31.0F;
        file.numbers[i] = std::ldexp(offset + part, exponent);
      }
      std::memcpy(file.bytes.data() + 1, file.numbers.data(), 32 * sizeof(float));
      const std::vector<float> kept = weights_of(packed_from(file, WeightFormat::kInt4));
      const double d = std::ldexp(1.0 / 15.0, exponent);
      const double o = std::abs(std::ldexp(static_cast<double>(offset), exponent));
      for (std::size_t i = 0; i < 32; ++i) {
        const double error = static_cast<double>(kept[i]) - static_cast<double>(file.numbers[i]);
        REQUIRE(std::abs(error) <= 0.51 * d + 0x1p-11 * o + 0x1p-24);
      }
    }
  }
}

TEST_CASE("weights: Q4_K keeps every bit, in whole rows, in parts and back", "[weights]") {
  const kernels::KernelTable& table = *active_kernels();
  for (const Index in : {32, 100, 256, 300, 1024}) {
    for (const Index out : {1, 7, 8, 9, 33, 70}) {
      CAPTURE(in, out);
      const FileMatrix file(NumberType::kQ4K, WeightLayout::kOutIn, out, in,
                            static_cast<std::uint64_t>(in + out));
      PackedLinear packed;
      require_ok(
          reserve_linear(table, {.in = in, .out = out, .format = WeightFormat::kQ4K}, packed));
      const Index first = out / 2;
      REQUIRE(fill_matrix(table, file.some(first, out - first), packed));
      REQUIRE(fill_matrix(table, file.some(0, first), packed));
      REQUIRE(first_difference(weights_of(packed), file.numbers) == "");
      Bytes row(static_cast<std::size_t>(file.row_bytes));
      for (Index j = 0; j < out; ++j) {
        store_column(table, packed, j, row.data());
        REQUIRE(std::equal(row.begin(), row.end(), file.bytes.begin() + 1 + j * file.row_bytes));
      }
    }
  }
  for (const Index place : {0, 2}) {
    FileMatrix file(NumberType::kQ4K, WeightLayout::kOutIn, 3, 512, 4);
    const std::uint16_t infinite = 0x7c00;
    std::memcpy(file.bytes.data() + 1 + 2 * file.row_bytes + 144 + place, &infinite, 2);
    PackedLinear packed;
    require_ok(reserve_linear(table, {.in = 512, .out = 3, .format = WeightFormat::kQ4K}, packed));
    CHECK(!fill_matrix(table, file.all(), packed));
    CHECK(fill_matrix(table, file.some(0, 2), packed));
  }
}

TEST_CASE("weights: scales that are not finite are told of", "[weights]") {
  const kernels::KernelTable& table = *active_kernels();
  for (const WeightFormat format : kWeightFormats) {
    if (format == WeightFormat::kQ4K) {
      continue;
    }
    for (const std::uint16_t scale :
         {std::uint16_t{0x7c00}, std::uint16_t{0xfc00}, std::uint16_t{0x7e00}}) {
      FileMatrix file(NumberType::kQ8_0, WeightLayout::kOutIn, 3, 64, 4);
      std::memcpy(file.bytes.data() + 1 + 2 * file.row_bytes + 34, &scale, sizeof scale);
      PackedLinear packed;
      require_ok(reserve_linear(table, {.in = 64, .out = 3, .format = format}, packed));
      CHECK(!fill_matrix(table, file.all(), packed));
      CHECK(fill_matrix(table, file.some(0, 2), packed));
    }
  }
  // A weight that is not finite has no place among whole numbers, and neither has one that is too large.
  for (const float weight : {INFINITY, -INFINITY, NAN, 1e7F, 3e38F}) {
    for (const WeightFormat format : kWeightFormats) {
      if (format == WeightFormat::kQ4K) {
        continue;
      }
      FileMatrix file(NumberType::kF32, WeightLayout::kOutIn, 3, 64, 4);
      std::memcpy(file.bytes.data() + 1 + file.row_bytes + 40, &weight, sizeof weight);
      PackedLinear packed;
      require_ok(reserve_linear(table, {.in = 64, .out = 3, .format = format}, packed));
      CHECK(fill_matrix(table, file.all(), packed) ==
            (format == WeightFormat::kF32 || format == WeightFormat::kBf16));
    }
  }
}

}  // namespace
}  // namespace qkv::test::weight_format_test
