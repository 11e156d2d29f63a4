// The arrays of a LanguageModel: their memory, and how they are filled.
#include <algorithm>
#include <cstring>

#include "check/check.hpp"
#include "models/model_check.hpp"
#include "models/model_state.hpp"
#include "qkv/relative_bias.hpp"
#include "rows/activation_kernel.hpp"
#include "weights/formats.hpp"
#include "weights/linear_product.hpp"
#include "weights/packed_linear.hpp"
#include "weights/raised_halves.hpp"
#include "weights/weight_rows.hpp"

namespace qkv {
namespace {

constexpr const char* kFill = "LanguageModel::fill";

/// Takes memory for the arrays of a model and lists them: what for_each_array() visits.
class Declarer {
 public:
  explicit Declarer(ModelState& state) noexcept : s_(state) {}

  Status visit(const MatrixSpec& spec, PackedLinear& packed) noexcept;
  Status visit(const NormSpec& spec, ModelNorm& norm) noexcept;
  Status visit(const TableSpec& spec, AlignedBuffer& table) noexcept;
  Status visit_embedding(const TableSpec& spec, PackedLinear& packed) noexcept;
  Status visit_head_bias(const char* name, Index width, PackedLinear& packed) noexcept;
  static Status make_layers(Index count, ModelState& model) noexcept {
    return model.layers.create(count);
  }
  static Status make_experts(Index count, ModelLayer& layer) noexcept {
    return layer.experts.create(count);
  }

 private:
  Status reserve(const MatrixSpec& spec, PackedLinear& packed) noexcept;
  /// That of the next array.
  [[nodiscard]] WeightFormat format() const noexcept {
    const auto i = static_cast<std::size_t>(s_.entries.size());
    return i < s_.formats.size() ? s_.formats[i] : s_.format;
  }
  Status list(const ArrayPlace& place, const char* name, ModelEntry entry) noexcept;
  Status vector(const ArrayPlace& place, const char* name, Index width,
                AlignedBuffer& buffer) noexcept;

  ModelState& s_;
};

Status Declarer::list(const ArrayPlace& place, const char* name, ModelEntry entry) noexcept {
  write_array_name(place, name, entry.name);
  entry.rows = 0;
  entry.layout = WeightLayout::kInOut;
  // Of all arrays more than an Index of 32 bits may hold: in 4 GiB there is room for 4e9 of int8.
  s_.parameter_count += std::int64_t{entry.shape[0]} * (entry.rank == 2 ? entry.shape[1] : 1);
  return s_.entries.push(entry);
}

Status Declarer::vector(const ArrayPlace& place, const char* name, Index width,
                        AlignedBuffer& buffer) noexcept {
  QKV_RETURN_IF_ERROR(buffer.reserve(capped(width)));
  s_.bytes += buffer.capacity() * sizeof(float);
  ModelEntry entry{};
  entry.numbers = buffer.data();
  entry.rank = 1;
  entry.shape[0] = width;
  return list(place, name, entry);
}

Status Declarer::visit(const TableSpec& spec, AlignedBuffer& table) noexcept {
  QKV_RETURN_IF_ERROR(table.reserve(capped_product(spec.rows, spec.width)));
  s_.bytes += table.capacity() * sizeof(float);
  ModelEntry entry{};
  entry.numbers = table.data();
  entry.rank = 2;
  entry.shape[0] = spec.rows;
  entry.shape[1] = spec.width;
  return list({}, spec.name, entry);
}

/// Takes the memory of a map and lists it, without its bias.
Status Declarer::reserve(const MatrixSpec& spec, PackedLinear& packed) noexcept {
  QKV_RETURN_IF_ERROR(reserve_linear(
      *s_.kernels, {spec.in, spec.out, spec.exact ? WeightFormat::kF32 : format(), spec.bias},
      packed));
  s_.bytes += (packed.panels.capacity() + packed.bias.capacity()) * sizeof(float);
  RowKinds kinds;
  kinds.add(*s_.kernels, packed);
  s_.quantized_rows |= kinds.any();
  ModelEntry entry{};
  entry.map = &packed;
  entry.rank = 2;
  entry.shape[0] = spec.in;
  entry.shape[1] = spec.out;
  return list(spec.place, spec.name, entry);
}

Status Declarer::visit(const MatrixSpec& spec, PackedLinear& packed) noexcept {
  QKV_RETURN_IF_ERROR(reserve(spec, packed));
  if (!spec.bias) {
    return {};
  }
  ModelEntry entry{};
  entry.numbers = packed.bias.data();
  entry.rank = 1;
  entry.shape[0] = spec.out;
  return list(spec.place, spec.bias_name, entry);
}

Status Declarer::visit(const NormSpec& spec, ModelNorm& norm) noexcept {
  QKV_RETURN_IF_ERROR(vector(spec.place, spec.gamma_name, spec.width, norm.gamma));
  return spec.beta ? vector(spec.place, spec.beta_name, spec.width, norm.beta) : Status{};
}

/// The table is the head's matrix, so that one array can be both: its rows are the outputs of the map.
Status Declarer::visit_embedding(const TableSpec& spec, PackedLinear& packed) noexcept {
  const bool bias = s_.config.tied_embeddings && s_.config.head_bias;
  QKV_RETURN_IF_ERROR(reserve(MatrixSpec{{}, spec.name, "", spec.width, spec.rows, bias}, packed));
  ModelEntry& table = s_.entries[s_.entries.size() - 1];
  table.is_table = true;
  std::swap(table.shape[0], table.shape[1]);
  return {};
}

/// The bias of a head that is the embedding, whose memory visit_embedding() has taken.
Status Declarer::visit_head_bias(const char* name, Index width, PackedLinear& packed) noexcept {
  ModelEntry entry{};
  entry.numbers = packed.bias.data();
  entry.rank = 1;
  entry.shape[0] = width;
  return list({}, name, entry);
}

/// Blocks that `count` inputs make.
Index blocks_of(Index count) noexcept {
  return (count + kernels::kInt8Block - 1) / kernels::kInt8Block;
}

/// What a row of an array is in its file, whatever the array.
Status check_rows(const ModelEntry& entry, const ModelRows& rows) noexcept {
  const Caller caller(kFill);
  if (!is_number_type(rows.type)) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@type is {}, expected a value of NumberType", rows.type);
  }
  QKV_RETURN_IF_ERROR(check_layout(caller, "layout", rows.layout));
  QKV_RETURN_IF_ERROR(check_size(caller, "count", rows.count));
  if (!rows.data) {
    return refuse(StatusCode::kInvalidArgument, caller, "@data is null, expected {} rows",
                  rows.count);
  }
  if (entry.rows > 0 && rows.layout != entry.layout) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@layout is {}, expected {} like the rows before", rows.layout, entry.layout);
  }
  const Index left = entry.all_rows(rows.layout) - entry.rows;
  if (rows.count > left) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@count is {}, expected at most {}: all rows of {}", rows.count, left,
                  Verbatim{entry.name});
  }
  const auto least = static_cast<Index>(row_bytes(rows.type, entry.row_size(rows.layout)));
  return rows.row_bytes >= least || rows.count == 1
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller, "@row_bytes is {}, expected at least {}",
                      rows.row_bytes, least);
}

/// What scales in an array of their own ask for.
Status check_scales(const ModelEntry& entry, const ModelRows& rows, bool along_rows) noexcept {
  const Caller caller(kFill);
  if (!rows.scales || entry.rank != 2) {
    return refuse(StatusCode::kInvalidArgument, caller, "@type is kInt8 {}, expected {}",
                  entry.rank == 2 ? "without @scales" : "for an array that is no matrix",
                  entry.rank == 2 ? "both" : "another type");
  }
  const Index size = entry.row_size(rows.layout);
  const Index least = along_rows ? blocks_of(size) : size;
  const Index scale_rows = along_rows ? rows.count : blocks_of(rows.count);
  return scale_rows <= 1 || rows.scale_stride >= least
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller, "@scale_stride is {}, expected at least {}",
                      rows.scale_stride, least);
}

/// A format that has the blocks of one type of files takes no others.
Status check_type(const kernels::KernelTable& table, const ModelEntry& entry, const ModelRows& rows,
                  bool along_rows) noexcept {
  if (!entry.map || !format_of(table, entry.map->format).keep_large) {
    return {};
  }
  const bool kept =
      rows.type == stored_type(entry.map->format) && rows.plus == 0.0 && rows.factor == 1.0;
  return kept && along_rows
             ? Status{}
             : refuse(
                   StatusCode::kInvalidArgument, kFill,
                   "{} has format {}, expected rows of that type as they are and @layout kOutIn; "
                   "use another @format",
                   Verbatim{entry.name}, Verbatim{format_of(table, entry.map->format).name});
}

/// What blocks of 32 inputs ask for: whole ones, along the inputs, with scales.
Status check_blocks(const kernels::KernelTable& table, const ModelEntry& entry,
                    const ModelRows& rows) noexcept {
  const Caller caller(kFill);
  const bool along_rows = !entry.map || entry.is_table || rows.layout == WeightLayout::kOutIn;
  if (block_type(rows.type) && !along_rows) {
    return refuse(
        StatusCode::kInvalidArgument, caller,
        "@type has blocks and @layout is kInOut, expected kOutIn: blocks lie along the inputs");
  }
  QKV_RETURN_IF_ERROR(check_type(table, entry, rows, along_rows));
  if (rows.type == NumberType::kInt8) {
    QKV_RETURN_IF_ERROR(check_scales(entry, rows, along_rows));
  }
  const bool packs_blocks = entry.map && format_of(table, entry.map->format).block_inputs > 1;
  const bool in_blocks = packs_blocks || rows.type == NumberType::kInt8;
  const bool at_end = entry.rows + rows.count == entry.all_rows(rows.layout);
  if (in_blocks && !along_rows && rows.count % kernels::kInt8Block != 0 && !at_end) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@count is {} of the inputs, expected a multiple of {} before the last",
                  rows.count, kernels::kInt8Block);
  }
  return {};
}

/// Why rows could not be kept.
Status refuse_numbers(const kernels::KernelTable& table, const ModelEntry& entry,
                      NumberType type) noexcept {
  if (has_scales(type)) {
    return refuse(StatusCode::kInvalidArgument, kFill,
                  "{} has a scale that is not finite, expected finite ones", Verbatim{entry.name});
  }
  const kernels::PanelFormat& format = format_of(table, entry.map->format);
  return refuse(StatusCode::kInvalidArgument, kFill,
                "{} has a number that is not finite or at least {} in magnitude, expected smaller "
                "ones: {} holds no such number; use another @format",
                Verbatim{entry.name}, Verbatim{format.most}, Verbatim{format.name});
}

}  // namespace

void ModelState::spread_bias() noexcept {
  if (config.relative_buckets == 0) {
    return;
  }
  const T5Options options{.bidirectional = !config.causal,
                          .max_distance = config.relative_max_distance};
  const Index width = distances();
  for (Index at = 0; at < width; ++at) {
    const Index bucket = t5_bucket(at + 1 - config.max_length, config.relative_buckets, options);
    for (Index h = 0; h < config.num_heads; ++h) {
      distance_bias.data()[h * width + at] = relative_bias.data()[bucket * config.num_heads + h];
    }
  }
}

Status ModelState::reserve_bias() noexcept {
  if (config.relative_buckets > 0) {
    QKV_RETURN_IF_ERROR(distance_bias.reserve(capped_product(config.num_heads, distances())));
    bytes += distance_bias.capacity() * sizeof(float);
  }
  return {};
}

Status ModelState::reserve() noexcept {
  Declarer declarer(*this);
  QKV_RETURN_IF_ERROR(for_each_array(config, *this, declarer));
  QKV_RETURN_IF_ERROR(reserve_bias());
  if (encoder) {
    QKV_RETURN_IF_ERROR(for_each_stack_array(encoder->config, kEncoderNames, *encoder, declarer));
    QKV_RETURN_IF_ERROR(encoder->reserve_bias());
    encoder->quantized_rows = quantized_rows;
    bytes += encoder->bytes;
  }
  const auto given = static_cast<Index>(formats.size());
  if (given != 0 && given != entries.size()) {
    return refuse(StatusCode::kShapeMismatch, "LanguageModel::create",
                  "@formats has {} elements, expected {}: one for each array", given,
                  entries.size());
  }
  if (!layers[0].config.attention.alibi) {
    return {};
  }
  QKV_RETURN_IF_ERROR(slopes.reserve(capped(config.num_heads)));
  return alibi_slopes({slopes.data(), {config.num_heads}});
}

Status LanguageModel::fill(Index i, const ModelRows& rows, ThreadPool* pool) noexcept {
  if (!state_ || state_->finished) {
    return refuse(StatusCode::kInvalidArgument, kFill, "the model is {}, expected one to be filled",
                  state_ ? "filled" : "empty");
  }
  if (i < 0 || i >= state_->entries.size()) {
    return refuse(StatusCode::kOutOfRange, kFill, "@i is {}, expected [0, {})", i,
                  state_->entries.size());
  }
  ModelEntry& entry = state_->entries[i];
  ModelRows given = rows;
  if (!entry.map || entry.is_table) {  // one way in which rows can lie
    given.layout = WeightLayout::kInOut;
  }
  QKV_RETURN_IF_ERROR(check_rows(entry, given));
  QKV_RETURN_IF_ERROR(check_blocks(*state_->kernels, entry, given));
  const FileRows from{.type = given.type,
                      .data = static_cast<const std::byte*>(given.data),
                      .row_bytes = given.row_bytes,
                      .scales = static_cast<const std::byte*>(given.scales),
                      .scale_stride = given.scale_stride,
                      .layout = entry.is_table ? WeightLayout::kOutIn : given.layout,
                      .first = entry.rows,
                      .rows = given.count,
                      .plus = given.plus,
                      .factor = given.factor};
  bool finite = true;
  if (entry.map) {
    finite = fill_matrix(*state_->kernels, from, *entry.map, pool);
  } else {
    const Index size = entry.row_size(given.layout);
    finite = read_rows(from, size, entry.numbers + entry.rows * size);
  }
  if (!finite) {
    return refuse_numbers(*state_->kernels, entry, given.type);
  }
  entry.rows += given.count;
  entry.layout = given.layout;
  if (entry.map && entry.full()) {
    raise_halves(*state_->kernels, *entry.map, pool);
  }
  return {};
}

Status LanguageModel::finish() noexcept {
  constexpr const char* kFinish = "LanguageModel::finish";
  if (!state_) {
    return refuse(StatusCode::kInvalidArgument, kFinish,
                  "the model is empty, expected one made by create()");
  }
  for (const ModelEntry& entry : state_->entries) {
    if (!entry.full()) {
      return refuse(StatusCode::kInvalidArgument, kFinish,
                    "{} has {} of {} rows filled, expected all", Verbatim{entry.name}, entry.rows,
                    entry.all_rows(entry.layout));
    }
  }
  state_->spread_bias();
  if (state_->encoder) {
    state_->encoder->spread_bias();
  }
  state_->finished = true;
  return {};
}

ModelArray LanguageModel::array(Index i) const noexcept {
  const ModelEntry& entry = state_->entries[i];
  const NumberType type = entry.map ? stored_type(entry.map->format) : NumberType::kF32;
  const Index width = entry.row_size(WeightLayout::kOutIn);
  return {.name = entry.name,
          .rank = entry.rank,
          .shape = {entry.shape[0], entry.shape[1]},
          .filled = entry.rows * entry.row_size(entry.layout),
          .type = type,
          .rows = entry.all_rows(WeightLayout::kOutIn),
          .row_bytes = static_cast<Index>(row_bytes(type, width))};
}

Status LanguageModel::read(Index i, Index first, Index count, void* to) const noexcept {
  constexpr const char* kRead = "LanguageModel::read";
  if (!state_) {
    return refuse(StatusCode::kInvalidArgument, kRead,
                  "the model is empty, expected one made by create()");
  }
  if (!to) {
    return refuse(StatusCode::kInvalidArgument, kRead, "@to is null, expected memory for the rows");
  }
  if (i < 0 || i >= state_->entries.size()) {
    return refuse(StatusCode::kOutOfRange, kRead, "@i is {}, expected [0, {})", i,
                  state_->entries.size());
  }
  const ModelArray found = array(i);
  if (first < 0 || count < 0 || first > found.rows || count > found.rows - first) {
    return refuse(StatusCode::kOutOfRange, kRead,
                  "@first is {} and @count {}, expected rows of [0, {})", first, count, found.rows);
  }
  const ModelEntry& entry = state_->entries[i];
  auto* rows = static_cast<std::byte*>(to);
  for (Index r = 0; r < count; ++r, rows += found.row_bytes) {
    if (entry.map) {
      store_column(*state_->kernels, *entry.map, first + r, rows);
    } else {
      const Index width = entry.row_size(WeightLayout::kOutIn);
      std::memcpy(rows, entry.numbers + (first + r) * width,
                  static_cast<std::size_t>(found.row_bytes));
    }
  }
  return {};
}

}  // namespace qkv
