// The arrays of a LanguageModel: their memory, and how they are filled.
#include <algorithm>
#include <cstring>

#include "check/check.hpp"
#include "models/model_state.hpp"
#include "qkv/relative_bias.hpp"
#include "rows/activation_kernel.hpp"

namespace qkv {
namespace {

constexpr const char* kFill = "LanguageModel::fill";

/// Takes memory for arrays and lists them, one after another.
class Declarer {
 public:
  explicit Declarer(ModelState& state) noexcept;

  Status all() noexcept;

 private:
  /// Where an array belongs, and what its name begins with.
  struct Place {
    ArrayPlace place = {};
    const char* prefix = "";
  };
  struct Extents2 {
    Index rows, columns;
  };

  Status list(const Place& place, const char* name, ModelEntry entry) noexcept;
  Status numbers(const Place& place, const char* name, AlignedBuffer& buffer,
                 const Extents2& shape) noexcept;
  Status map(const Place& place, const char* const (&names)[2], PackedLinear& packed,
             const Extents2& in_out, bool bias) noexcept;
  Status norm(const Place& place, ModelNorm& arrays, Index width) noexcept;
  Status head_norms(const Place& place, ModelLayer& layer) noexcept;
  Status attention(Index n, ModelLayer& layer) noexcept;
  Status feed_forward(Index n, ModelLayer& layer) noexcept;
  Status embeddings() noexcept;

  ModelState& s_;
  const LanguageModelConfig& c_;
  bool has_biases_, has_qkv_biases_;  ///< check_model_config() has filled both in
  bool has_betas_;
};

Declarer::Declarer(ModelState& state) noexcept
    : s_(state),
      c_(state.config),
      has_biases_(c_.biases.value_or(false)),
      has_qkv_biases_(c_.qkv_biases.value_or(false)),
      has_betas_(has_biases_ && c_.norm_type == NormType::kLayer) {}

Status Declarer::list(const Place& place, const char* name, ModelEntry entry) noexcept {
  write_array_name(place.place, place.prefix, name, entry.name);
  entry.rows = 0;
  entry.layout = WeightLayout::kInOut;
  // Of all arrays more than an Index of 32 bits may hold: in 4 GiB there is room for 4e9 of int8.
  s_.parameter_count += std::int64_t{entry.shape[0]} * (entry.rank == 2 ? entry.shape[1] : 1);
  return s_.entries.push(entry);
}

/// An array of float32; a vector where `rows` is 0.
Status Declarer::numbers(const Place& place, const char* name, AlignedBuffer& buffer,
                         const Extents2& shape) noexcept {
  const Index rows = std::max<Index>(shape.rows, 1);
  QKV_RETURN_IF_ERROR(buffer.reserve(capped_product(rows, shape.columns)));
  s_.bytes += buffer.capacity() * sizeof(float);
  ModelEntry entry{};
  entry.numbers = buffer.data();
  entry.rank = shape.rows == 0 ? 1 : 2;
  entry.shape[0] = shape.rows == 0 ? shape.columns : rows;
  entry.shape[1] = shape.rows == 0 ? 0 : shape.columns;
  return list(place, name, entry);
}

Status Declarer::map(const Place& place, const char* const (&names)[2], PackedLinear& packed,
                     const Extents2& in_out, bool bias) noexcept {
  QKV_RETURN_IF_ERROR(
      reserve_linear(*s_.kernels, {in_out.rows, in_out.columns, s_.format, bias}, packed));
  s_.bytes += (packed.panels.capacity() + packed.bias.capacity()) * sizeof(float);
  ModelEntry entry{};
  entry.map = &packed;
  entry.rank = 2;
  entry.shape[0] = in_out.rows;
  entry.shape[1] = in_out.columns;
  QKV_RETURN_IF_ERROR(list(place, names[0], entry));
  if (!bias) {
    return {};
  }
  entry = {};
  entry.numbers = packed.bias.data();
  entry.rank = 1;
  entry.shape[0] = in_out.columns;
  return list(place, names[1], entry);
}

Status Declarer::norm(const Place& place, ModelNorm& arrays, Index width) noexcept {
  QKV_RETURN_IF_ERROR(numbers(place, "gamma", arrays.gamma, {0, width}));
  return has_betas_ ? numbers(place, "beta", arrays.beta, {0, width}) : Status{};
}

/// The norms of q and k, whose names are one word.
Status Declarer::head_norms(const Place& place, ModelLayer& layer) noexcept {
  QKV_RETURN_IF_ERROR(numbers(place, "qGamma", layer.q_norm.gamma, {0, c_.d_k}));
  if (has_betas_) {
    QKV_RETURN_IF_ERROR(numbers(place, "qBeta", layer.q_norm.beta, {0, c_.d_k}));
  }
  QKV_RETURN_IF_ERROR(numbers(place, "kGamma", layer.k_norm.gamma, {0, c_.d_k}));
  return has_betas_ ? numbers(place, "kBeta", layer.k_norm.beta, {0, c_.d_k}) : Status{};
}

Status Declarer::attention(Index n, ModelLayer& layer) noexcept {
  const Place place{{"layers", n}, "attention."};
  const Index of_q = detail::saturated_product(c_.num_heads, c_.d_k);
  const Index of_kv = detail::saturated_product(c_.num_kv_heads, c_.d_k);
  const bool bias = has_qkv_biases_;
  QKV_RETURN_IF_ERROR(norm({{"layers", n}, "norm1."}, layer.norm1, c_.d_model));
  QKV_RETURN_IF_ERROR(map(place, {"wq", "bq"}, layer.wq, {c_.d_model, of_q}, bias));
  QKV_RETURN_IF_ERROR(map(place, {"wk", "bk"}, layer.wk, {c_.d_model, of_kv}, bias));
  QKV_RETURN_IF_ERROR(map(place, {"wv", "bv"}, layer.wv, {c_.d_model, of_kv}, bias));
  if (c_.qk_norm) {
    QKV_RETURN_IF_ERROR(head_norms(place, layer));
  }
  QKV_RETURN_IF_ERROR(map(place, {"wo", "bo"}, layer.wo, {of_q, c_.d_model}, has_biases_));
  return c_.post_norms ? norm({{"layers", n}, "postNorm1."}, layer.post_norm1, c_.d_model)
                       : Status{};
}

Status Declarer::feed_forward(Index n, ModelLayer& layer) noexcept {
  if (c_.d_feed_forward == 0) {
    return {};
  }
  const Place place{{"layers", n}, "feedForward."};
  const Extents2 inwards{c_.d_model, c_.d_feed_forward};
  const bool bias = has_biases_;
  QKV_RETURN_IF_ERROR(norm({{"layers", n}, "norm2."}, layer.norm2, c_.d_model));
  QKV_RETURN_IF_ERROR(map(place, {"w1", "b1"}, layer.w1, inwards, bias));
  if (is_gated(c_.activation)) {
    QKV_RETURN_IF_ERROR(map(place, {"wGate", "bGate"}, layer.w_gate, inwards, bias));
  }
  QKV_RETURN_IF_ERROR(map(place, {"w2", "b2"}, layer.w2, {c_.d_feed_forward, c_.d_model}, bias));
  return c_.post_norms ? norm({{"layers", n}, "postNorm2."}, layer.post_norm2, c_.d_model)
                       : Status{};
}

Status Declarer::embeddings() noexcept {
  QKV_RETURN_IF_ERROR(map({}, {"embedding", ""}, s_.embedding, {c_.d_model, c_.vocabulary}, false));
  ModelEntry& table = s_.entries[0];
  table.is_table = true;
  std::swap(table.shape[0], table.shape[1]);
  if (c_.token_types > 0) {
    QKV_RETURN_IF_ERROR(numbers({}, "tokenTypes", s_.token_types, {c_.token_types, c_.d_model}));
  }
  if (c_.positions == ModelPositions::kLearned) {
    QKV_RETURN_IF_ERROR(numbers({}, "positions", s_.positions, {c_.max_length, c_.d_model}));
  }
  return c_.embedding_norm ? norm({{}, "embeddingNorm."}, s_.embedding_norm, c_.d_model) : Status{};
}

Status Declarer::all() noexcept {
  QKV_RETURN_IF_ERROR(embeddings());
  QKV_RETURN_IF_ERROR(s_.layers.create(c_.num_layers));
  for (Index n = 0; n < c_.num_layers; ++n) {
    ModelLayer& layer = s_.layers[n];
    layer.window = c_.windows.absent() ? c_.window : c_.windows.data[n];
    QKV_RETURN_IF_ERROR(attention(n, layer));
    QKV_RETURN_IF_ERROR(feed_forward(n, layer));
  }
  if (c_.norm == NormPlacement::kPre) {
    QKV_RETURN_IF_ERROR(norm({{}, "norm."}, s_.norm, c_.d_model));
  }
  if (c_.head && !c_.tied_embeddings) {
    QKV_RETURN_IF_ERROR(map({}, {"head", ""}, s_.head, {c_.d_model, c_.vocabulary}, false));
  }
  if (c_.positions == ModelPositions::kAlibi) {
    QKV_RETURN_IF_ERROR(s_.slopes.reserve(capped(c_.num_heads)));
    QKV_RETURN_IF_ERROR(alibi_slopes({s_.slopes.data(), {c_.num_heads}}));
  }
  return {};
}

/// Blocks that `count` inputs make.
Index blocks_of(Index count) noexcept {
  return (count + kernels::kInt8Block - 1) / kernels::kInt8Block;
}

/// Bytes of a row of `count` numbers.
std::size_t row_bytes(NumberType type, Index count) noexcept {
  const auto n = static_cast<std::size_t>(count);
  switch (type) {
    case NumberType::kF32:
      return 4 * n;
    case NumberType::kF16:
    case NumberType::kBf16:
      return 2 * n;
    case NumberType::kQ8_0:
      return static_cast<std::size_t>(blocks_of(count)) * (kernels::kInt8Block + 2);
    case NumberType::kInt8:
      return n;
  }
  return 0;  // check_rows() refuses other types
}

/// What a row of an array is in its file, whatever the array.
Status check_rows(const ModelEntry& entry, const ModelRows& rows) noexcept {
  const Caller caller(kFill);
  if (rows.type > NumberType::kInt8) {
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
                  "@layout is {}, expected {} as that of the rows before", rows.layout,
                  entry.layout);
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

/// What blocks of 32 inputs ask for: whole ones, along the inputs, with scales.
Status check_blocks(const ModelEntry& entry, const ModelRows& rows, WeightFormat format) noexcept {
  const Caller caller(kFill);
  const bool along_inputs = entry.map && (entry.is_table || rows.layout == WeightLayout::kOutIn);
  if (rows.type == NumberType::kQ8_0 && !along_inputs && entry.rank == 2 && entry.map) {
    return refuse(
        StatusCode::kInvalidArgument, caller,
        "@type is kQ8_0 and @layout kInOut, expected kOutIn: blocks lie along the inputs");
  }
  if (rows.type == NumberType::kInt8 && (!rows.scales || !entry.map)) {
    return refuse(StatusCode::kInvalidArgument, caller, "@type is kInt8 {}, expected {}",
                  entry.map ? "without @scales" : "for an array that is no matrix",
                  entry.map ? "both" : "another type");
  }
  if (rows.type == NumberType::kInt8) {
    const Index size = entry.row_size(rows.layout);
    const Index least = along_inputs ? blocks_of(size) : size;
    const Index scale_rows = along_inputs ? rows.count : blocks_of(rows.count);
    if (scale_rows > 1 && rows.scale_stride < least) {
      return refuse(StatusCode::kOutOfRange, caller, "@scale_stride is {}, expected at least {}",
                    rows.scale_stride, least);
    }
  }
  const bool in_blocks = format == WeightFormat::kInt8 || rows.type == NumberType::kInt8;
  const bool at_end = entry.rows + rows.count == entry.all_rows(rows.layout);
  if (in_blocks && entry.map && !along_inputs && rows.count % kernels::kInt8Block != 0 && !at_end) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@count is {} of the inputs, expected a multiple of {} before the last",
                  rows.count, kernels::kInt8Block);
  }
  return {};
}

}  // namespace

Status ModelState::reserve() noexcept { return Declarer(*this).all(); }

Status LanguageModel::fill(Index i, const ModelRows& rows) noexcept {
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
  QKV_RETURN_IF_ERROR(check_blocks(entry, given, state_->format));
  const FileRows from{.type = given.type,
                      .data = static_cast<const std::byte*>(given.data),
                      .row_bytes = given.row_bytes,
                      .scales = static_cast<const std::byte*>(given.scales),
                      .scale_stride = given.scale_stride,
                      .layout = entry.is_table ? WeightLayout::kOutIn : given.layout,
                      .first = entry.rows,
                      .rows = given.count};
  bool finite = true;
  if (entry.map) {
    finite = fill_rows(*state_->kernels, from, *entry.map);
  } else {
    const Index size = entry.row_size(given.layout);
    finite = read_rows(from, size, entry.numbers + entry.rows * size);
  }
  if (!finite) {
    return has_scales(given.type)
               ? refuse(StatusCode::kInvalidArgument, kFill,
                        "{} has a scale that is not finite, expected finite ones",
                        Verbatim{entry.name})
               : refuse(StatusCode::kInvalidArgument, kFill,
                        "{} has a number that is not finite or is 8.3e6 or more in size, expected "
                        "less: int8 has no scale for it, other values of @format have",
                        Verbatim{entry.name});
  }
  entry.rows += given.count;
  entry.layout = given.layout;
  return {};
}

Status LanguageModel::finish() noexcept {
  constexpr const char* kFinish = "LanguageModel::finish";
  if (!state_) {
    return refuse(StatusCode::kInvalidArgument, kFinish,
                  "the model is empty, expected one of create()");
  }
  for (const ModelEntry& entry : state_->entries) {
    if (!entry.full()) {
      return refuse(StatusCode::kInvalidArgument, kFinish, "{} has {} of {} rows, expected all",
                    Verbatim{entry.name}, entry.rows, entry.all_rows(entry.layout));
    }
  }
  state_->finished = true;
  return {};
}

ModelArray LanguageModel::array(Index i) const noexcept {
  const ModelEntry& entry = state_->entries[i];
  return {.name = entry.name,
          .rank = entry.rank,
          .shape = {entry.shape[0], entry.shape[1]},
          .filled = entry.rows * entry.row_size(entry.layout)};
}

}  // namespace qkv
