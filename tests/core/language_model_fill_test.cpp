// What fill() keeps of numbers in every type, layout and format, seen through models that hand single weights through.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "language_model_problem.hpp"
#include "model_file.hpp"
#include "qkv/language_model.hpp"
#include "refusal.hpp"

namespace qkv::test::language_model_fill_test {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8,
                                     WeightFormat::kF16, WeightFormat::kInt4};
constexpr NumberType kTypes[] = {NumberType::kF32, NumberType::kF16, NumberType::kBf16,
                                 NumberType::kQ8_0, NumberType::kInt8};

/// A model whose stream after its only layer is the embedding of each token; and whose logits are, of token i and with an embedding
/// that is the unit matrix, row i of the head.
LanguageModelConfig probe(Index vocabulary, Index width) {
  LanguageModelConfig c;
  c.vocabulary = vocabulary;
  c.num_layers = 1;
  c.d_model = width;
  c.num_heads = 1;
  c.d_k = 2;
  c.max_length = vocabulary;
  c.norm_type = NormType::kRms;
  c.positions = ModelPositions::kNone;
  c.epsilon = 0.0F;
  return c;
}

/// Fills what is not there yet: gains so that a unit vector stays one, everything else with zeros.
void fill_rest(LanguageModel& model) {
  for (Index i = 0; i < model.array_count(); ++i) {
    const ModelArray array = model.array(i);
    const Index count = array.shape[0] * (array.rank == 2 ? array.shape[1] : 1);
    if (array.filled == 0) {
      const auto width = static_cast<double>(model.config().d_model);
      const double gain = array.name == std::string("norm.gamma") ? 1 / std::sqrt(width) : 0.0;
      require_ok(fill_whole(
          model, i, std::vector<float>(static_cast<std::size_t>(count), static_cast<float>(gain))));
    }
  }
  require_ok(model.finish());
}

/// Gives array i its rows in pieces of `piece`.
void fill_pieces(LanguageModel& model, Index i, const InFile& file, WeightLayout layout,
                 std::pair<Index, Index> rows_and_piece) {
  const auto [rows, piece] = rows_and_piece;
  for (Index first = 0; first < rows; first += piece) {
    const Index count = std::min(piece, rows - first);
    require_ok(model.fill(i, file.rows(first, count, layout)));
  }
}

Index index_of(const LanguageModel& model, const std::string& name) {
  for (Index i = 0; i < model.array_count(); ++i) {
    if (model.array(i).name == name) {
      return i;
    }
  }
  FAIL("no array " << name);
  return -1;
}

/// Tokens 0, 1, 2, ...
ModelTokens in_order(const LanguageModel& model, Index count) {
  ModelTokens tokens(model.config(), 1, count, 1);
  for (Index t = 0; t < count; ++t) {
    tokens.ids[static_cast<std::size_t>(t)] = static_cast<std::int32_t>(t);
  }
  return tokens;
}

/// What an array of this format keeps of numbers that a file has in this type: quantised blocks as they are.
std::vector<double> expected(const InFile& file, const Matrix& shape, NumberType type,
                             WeightFormat format, bool by_rows) {
  const bool in_blocks = type == NumberType::kInt8 || type == NumberType::kQ8_0;
  if (in_blocks && format == WeightFormat::kInt8) {
    return file.exact;
  }
  Matrix m{{file.exact.begin(), file.exact.end()}, shape.rows, shape.columns};
  return kept(m, format, by_rows);
}

TEST_CASE("LanguageModel::fill: a table of embeddings keeps each number, bit for bit",
          "[model][fill]") {
  Random random(100);
  for (const Index width : {32, 40, 96}) {
    const Matrix table{random_floats(random, 7 * width), 7, width};
    for (const NumberType type : kTypes) {
      for (const WeightFormat format : kFormats) {
        if (type == NumberType::kQ8_0 && width % 32 != 0) {
          continue;
        }
        CAPTURE(width, static_cast<int>(type), static_cast<int>(format));
        const InFile file(table, type);
        const std::vector<double> exact = expected(file, table, type, format, true);
        for (const Index piece : {7, 3, 1}) {
          LanguageModel model;
          require_ok(LanguageModel::create(probe(7, width), format, model));
          fill_pieces(model, 0, file, WeightLayout::kInOut, {7, piece});
          fill_rest(model);
          const ModelResults found = run(model, in_order(model, 7), {.readings = true});
          CHECK(first_difference(found.layers[0].residual, {exact.begin(), exact.end()}) == "");
        }
      }
    }
  }
}

/// A model whose head is filled from the file, and all of the head as the model's logits show it.
std::vector<float> seen_through_logits(const InFile& file, WeightFormat format, WeightLayout layout,
                                       Index width, Index vocabulary, Index piece) {
  LanguageModel model;
  require_ok(LanguageModel::create(probe(vocabulary, width), format, model));
  const Index head = index_of(model, "head");
  const Index rows = layout == WeightLayout::kInOut ? width : vocabulary;
  fill_pieces(model, head, file, layout, {rows, piece});
  std::vector<float> unit(static_cast<std::size_t>(vocabulary * width));
  for (Index i = 0; i < width; ++i) {
    unit[static_cast<std::size_t>(i * width + i)] = 1.0F;
  }
  require_ok(fill_whole(model, 0, unit));
  fill_rest(model);
  return run(model, in_order(model, width)).logits;
}

TEST_CASE("LanguageModel::fill: matrices of every type, layout and format keep each number",
          "[model][fill]") {
  Random random(101);
  for (const Index width : {40, 64}) {
    const Index vocabulary = 67;
    const std::vector<float> values = random_floats(random, width * vocabulary);
    for (const WeightLayout layout : {WeightLayout::kInOut, WeightLayout::kOutIn}) {
      const bool by_rows = layout == WeightLayout::kOutIn;
      const Matrix matrix{values, by_rows ? vocabulary : width, by_rows ? width : vocabulary};
      for (const NumberType type : kTypes) {
        for (const WeightFormat format : kFormats) {
          // Numbers of 4 bits are sums, of which a product rounds each part.
          const bool sums = format == WeightFormat::kInt4;
          if (sums || (type == NumberType::kQ8_0 && (!by_rows || width % 32 != 0))) {
            continue;
          }
          CAPTURE(width, by_rows, static_cast<int>(type), static_cast<int>(format));
          const InFile file(matrix, type, !by_rows);
          const std::vector<double> exact = expected(file, matrix, type, format, by_rows);
          Quantity quantity(format == WeightFormat::kInt8 ? "fill, int8" : "fill");
          for (const Index piece : {matrix.rows, Index{32}}) {
            const std::vector<float> found =
                seen_through_logits(file, format, layout, width, vocabulary, piece);
            for (Index i = 0; i < width; ++i) {
              for (Index o = 0; o < vocabulary; ++o) {
                const double w =
                    exact[static_cast<std::size_t>(by_rows ? o * width + i : i * vocabulary + o)];
                // Unit vectors come out of the norm with a rounding or two, and so does their product with the
                // only weight that counts.
                quantity.add(
                    static_cast<double>(found[static_cast<std::size_t>(i * vocabulary + o)]), w,
                    bounds::kU * 32 * std::abs(w) + 0x1p-140);
              }
            }
          }
          require_within(quantity);
        }
      }
    }
  }
}

TEST_CASE("LanguageModel::fill: what stays in float32 takes 16-bit numbers exactly",
          "[model][fill]") {
  LanguageModelConfig config = probe(4, 32);
  config.norm_type = NormType::kLayer;
  Random random(102);
  const Matrix beta{random_floats(random, 32), 1, 32};
  for (const NumberType type : {NumberType::kF32, NumberType::kF16, NumberType::kBf16}) {
    for (const WeightFormat format : kFormats) {
      CAPTURE(static_cast<int>(type), static_cast<int>(format));
      const InFile file(beta, type);
      LanguageModel model;
      config.positions = ModelPositions::kLearned;
      require_ok(LanguageModel::create(config, format, model));
      // x = 0 gain + beta
      require_ok(fill_whole(model, index_of(model, "norm.gamma"), std::vector<float>(32)));
      require_ok(model.fill(index_of(model, "norm.beta"), file.rows(0, 1, WeightLayout::kInOut)));
      // A table that is added: row 2 of it, and the others 0.
      const Index positions = index_of(model, "positions");
      require_ok(model.fill(positions, file.rows(0, 1, WeightLayout::kInOut)));
      const std::vector<float> zeros(96);
      require_ok(model.fill(positions, {.data = zeros.data(), .count = 3, .row_bytes = 128}));
      require_ok(fill_whole(model, 0, std::vector<float>(4 * 32)));
      fill_rest(model);
      const ModelResults found = run(model, in_order(model, 1), {.readings = true});
      const std::vector<float> exact(file.exact.begin(), file.exact.end());
      CHECK(first_difference(found.hidden, exact) == "");
      CHECK(first_difference(found.layers[0].residual, exact) == "");
    }
  }
}

TEST_CASE("LanguageModel::fill: numbers at the ends of the formats", "[model][fill]") {
  // Halves of every exponent, and float32 that fall between two 16-bit ones.
  std::vector<float> values;
  for (int exponent = -24; exponent < 16; ++exponent) {
    for (const double digits : {1.0, 1.5, 1.9990234375}) {
      values.push_back(static_cast<float>(std::ldexp(digits, exponent)));
    }
  }
  values.insert(values.end(), {0.0F, -0.0F, 65504.0F, -65504.0F, 1.00390625F, 1.01171875F,
                               1.0039063F, 3.3895314e38F});
  const Matrix table{values, 1, static_cast<Index>(values.size())};
  REQUIRE(table.columns == 128);
  for (const NumberType type : {NumberType::kF32, NumberType::kF16, NumberType::kBf16}) {
    for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16}) {
      CAPTURE(static_cast<int>(type), static_cast<int>(format));
      Matrix m = table;
      m.values.back() = type == NumberType::kF16 ? 1.0F : m.values.back();
      const InFile file(m, type);
      LanguageModel model;
      require_ok(LanguageModel::create(probe(1, 128), format, model));
      require_ok(model.fill(0, file.rows(0, 1, WeightLayout::kInOut)));
      fill_rest(model);
      const ModelResults found = run(model, in_order(model, 1), {.readings = true});
      std::vector<double> exact = expected(file, m, type, format, true);
      std::replace(exact.begin(), exact.end(), -0.0, 0.0);  // -0 + 0 is 0
      CHECK(first_difference(found.layers[0].residual, {exact.begin(), exact.end()}) == "");
    }
  }
}

TEST_CASE("LanguageModel::fill: blocks of zeros, and of numbers that are nearly none, are kept",
          "[model][fill]") {
  std::vector<float> values(96, 0.0F);
  std::fill(values.begin() + 32, values.begin() + 64, 1e-9F);  // their scale as float16 is 0
  values[70] = 1e-6F;                                          // whose scale is the least of all
  const Matrix table{values, 1, 96};
  LanguageModel model;
  require_ok(LanguageModel::create(probe(1, 96), WeightFormat::kInt8, model));
  const InFile file(table, NumberType::kF32);
  require_ok(model.fill(0, file.rows(0, 1, WeightLayout::kInOut)));
  fill_rest(model);
  const ModelResults found = run(model, in_order(model, 1), {.readings = true});
  for (const float x : found.layers[0].residual) {
    CHECK(std::abs(x) <= 4e-6F);
    CHECK(x == x);
  }
}

TEST_CASE("LanguageModel::fill: of a single row of scales the stride is of no matter",
          "[model][fill]") {
  Random random(104);
  const Matrix table{random_floats(random, 2 * 64), 2, 64};
  const InFile file(table, NumberType::kInt8);
  const std::vector<double> exact =
      expected(file, table, NumberType::kInt8, WeightFormat::kInt8, true);
  LanguageModel model;
  require_ok(LanguageModel::create(probe(2, 64), WeightFormat::kInt8, model));
  for (Index row = 0; row < 2; ++row) {
    ModelRows rows = file.rows(row, 1, WeightLayout::kInOut);
    rows.scale_stride = 0;
    require_ok(model.fill(0, rows));
  }
  // 32 inputs have one row of scales, one for each output.
  const std::vector<std::int8_t> numbers(32 * 2, 1);
  const std::vector<std::uint16_t> scales(2, 0x3C00);
  const Index head = index_of(model, "head");
  for (int half = 0; half < 2; ++half) {
    require_ok(model.fill(head, {.type = NumberType::kInt8,
                                 .data = numbers.data(),
                                 .count = 32,
                                 .row_bytes = 2,
                                 .scales = scales.data()}));
  }
  fill_rest(model);
  const ModelResults found = run(model, in_order(model, 2), {.readings = true});
  CHECK(first_difference(found.layers[0].residual, {exact.begin(), exact.end()}) == "");
}

/// All of an array as read() gives it.
std::vector<std::byte> bytes_of(const LanguageModel& model, Index i) {
  const ModelArray array = model.array(i);
  std::vector<std::byte> bytes(static_cast<std::size_t>(array.rows * array.row_bytes));
  for (Index first = 0; first < array.rows; first += 5) {
    const Index count = std::min<Index>(5, array.rows - first);
    require_ok(model.read(i, first, count, bytes.data() + first * array.row_bytes));
  }
  return bytes;
}

TEST_CASE("LanguageModel::read: what it gives fills a model of the same formats without a change",
          "[model][fill]") {
  const ModelWeights weights(family("gpt2"), 105);
  const ModelTokens tokens(weights.config(), 1, 6, 105);
  const LanguageModel first = weights.make();
  // Each format by itself, and then all of them in turn.
  for (std::size_t one = 0; one <= std::size(kFormats); ++one) {
    std::vector<WeightFormat> formats;
    for (Index i = 0; i < first.array_count(); ++i) {
      const std::size_t place = one < std::size(kFormats) ? one : to_size(i) % std::size(kFormats);
      formats.push_back(kFormats[place]);
    }
    CAPTURE(one);
    LanguageModel from;
    LanguageModel to;
    require_ok(LanguageModel::create(weights.config(), WeightFormat::kF32, from, formats));
    require_ok(LanguageModel::create(weights.config(), WeightFormat::kF32, to, formats));
    for (Index i = 0; i < from.array_count(); ++i) {
      require_ok(fill_whole(from, i, weights.arrays.at(from.array(i).name)));
      const ModelArray array = from.array(i);
      const std::vector<std::byte> bytes = bytes_of(from, i);
      require_ok(to.fill(i, {.type = array.type,
                             .data = bytes.data(),
                             .count = array.rows,
                             .row_bytes = array.row_bytes,
                             .layout = WeightLayout::kOutIn}));
      CHECK(bytes_of(to, i) == bytes);
    }
    require_ok(from.finish());
    require_ok(to.finish());
    CHECK(first_difference(run(from, tokens).all(), run(to, tokens).all()) == "");
  }
}

TEST_CASE("LanguageModel::fill: (x + plus) factor is what numbers stand for, rounded once",
          "[model][fill]") {
  Random random(106);
  const Matrix table{random_floats(random, 3 * 64), 3, 64};
  for (const NumberType type : kTypes) {
    for (const WeightFormat format : kFormats) {
      CAPTURE(static_cast<int>(type), static_cast<int>(format));
      const InFile file(table, type);
      Matrix changed{{}, 3, 64};
      for (const double x : file.exact) {
        changed.values.push_back(static_cast<float>((x + 1.0) * 0.3));
      }
      const std::vector<double> exact = kept(changed, format, true);
      LanguageModel model;
      require_ok(LanguageModel::create(probe(3, 64), format, model));
      ModelRows rows = file.rows(0, 3, WeightLayout::kInOut);
      rows.plus = 1.0;
      rows.factor = 0.3;
      require_ok(model.fill(0, rows));
      fill_rest(model);
      const ModelResults found = run(model, in_order(model, 3), {.readings = true});
      CHECK(first_difference(found.layers[0].residual, {exact.begin(), exact.end()}) == "");
    }
  }
}

TEST_CASE("LanguageModel::fill: the order of the arrays is free", "[model][fill]") {
  const ModelWeights weights(family("gpt2"), 103);
  const ModelTokens tokens(weights.config(), 1, 6, 103);
  LanguageModel model;
  require_ok(LanguageModel::create(weights.config(), WeightFormat::kF32, model));
  for (Index i = model.array_count() - 1; i >= 0; --i) {
    require_ok(fill_whole(model, i, weights.arrays.at(model.array(i).name)));
  }
  require_ok(model.finish());
  CHECK(first_difference(run(weights.make(), tokens).all(), run(model, tokens).all()) == "");
}

TEST_CASE("LanguageModel::fill: filled tells how much there is", "[model][fill][any-isa]") {
  LanguageModel model;
  require_ok(LanguageModel::create(family("llama"), WeightFormat::kF32, model));
  const std::vector<float> row(24 * 19);
  CHECK(model.array(0).filled == 0);
  require_ok(model.fill(0, {.data = row.data(), .count = 5, .row_bytes = 24 * 4}));
  CHECK(model.array(0).filled == 5 * 24);
  require_refused(model.finish(), "LanguageModel::finish",
                  {kInvalid, "embedding", "5 of 19", "expected all"});
  require_ok(model.fill(0, {.data = row.data(), .count = 14, .row_bytes = 24 * 4}));
  require_refused(model.finish(), "LanguageModel::finish",
                  {kInvalid, "layers.0.norm1.gamma", "0 of 1", "expected all"});
}

}  // namespace
}  // namespace qkv::test::language_model_fill_test
