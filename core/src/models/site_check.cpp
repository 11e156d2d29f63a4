#include "models/site_check.hpp"

#include <algorithm>
#include <array>

#include "check/check.hpp"
#include "models/model_check.hpp"

namespace qkv {
namespace {

/// Most tokens that a lens tells.
constexpr Index kMostGuesses = 64;

constexpr const char* kNames[kModelSites] = {
    "kEmbed",    "kQ",     "kK",         "kV",       "kScores",  "kWeights",
    "kZ",        "kHeads", "kAttention", "kMiddle",  "kNeurons", "kFeedForward",
    "kResidual", "kFinal", "kCross",     "kEntropy", "kLogits",  "kNormWeights"};

Verbatim name_of(ModelSite site) noexcept { return {site_name(site)}; }

/// Why a model has no such site; null if it has.
const char* lack_of(const LanguageModelConfig& c, ModelSite site) noexcept {
  using enum ModelSite;
  const bool feeds = c.d_feed_forward > 0;
  switch (site) {
    case kMiddle:
      return c.parallel_residual ? "both sub-layers of the model read the same stream"
             : !feeds            ? "the model's layers are attention alone"
                                 : nullptr;
    case kFeedForward:
      return feeds ? nullptr : "the model's layers are attention alone";
    case kNeurons:
      return !feeds              ? "the model's layers are attention alone"
             : c.num_experts > 0 ? "the model has experts, each with neurons of its own for the "
                                   "tokens that it takes"
                                 : nullptr;
    case kCross:
      return c.encoder_layers > 0 ? nullptr : "the model has no encoder";
    case kLogits:
      return c.head ? nullptr : "the model has no head";
    default:
      return nullptr;
  }
}

/// A site that the model has, in a layer that is computed.
Status check_place(const Caller& caller, const SiteCall& call, const Argument& name, ModelSite site,
                   Index layer) noexcept {
  if (static_cast<int>(site) >= kModelSites) {
    return refuse(StatusCode::kInvalidArgument, caller, "the site of {} is {}, expected 0 to {}",
                  name, static_cast<Index>(site), Index{kModelSites - 1});
  }
  if (const char* why = lack_of(call.config, site)) {
    // As logits are refused that are requested as a result.
    const bool of_head = site == ModelSite::kLogits;
    return refuse(of_head ? StatusCode::kInvalidArgument : StatusCode::kUnsupported, caller,
                  "the site of {} is {}, expected another: {}", name, name_of(site), Verbatim{why});
  }
  const Index layers = has_layers(site) ? call.config.num_layers : 1;
  if (layer < 0 || layer >= layers) {
    return refuse(StatusCode::kOutOfRange, caller, "the layer of {} is {}, expected [0, {})", name,
                  layer, layers);
  }
  // With layer 0 the stream that is given stands for the embeddings.
  const bool computed = site == ModelSite::kFinal || layer >= call.first_layer;
  return computed
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller,
                      "the layer of {} is {}, expected at least {}, with which the pass begins",
                      name, layer, call.first_layer);
}

/// [begin, end) of an axis; below 0 the end is that of the axis.
Status check_range(const Caller& caller, const Argument& name, const char* axis,
                   const ModelRange& range, Index extent) noexcept {
  const Index end = range.end < 0 ? extent : range.end;
  return range.begin >= 0 && range.begin <= end && end <= extent
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller,
                      "the {} of {} are [{}, {}), expected a range within [0, {})", Verbatim{axis},
                      name, range.begin, end, extent);
}

[[nodiscard]] Index size_of(const ModelRange& range, Index extent) noexcept {
  return (range.end < 0 ? extent : range.end) - range.begin;
}

[[nodiscard]] bool is_whole(const ModelRange& range) noexcept {
  return range.begin == 0 && range.end < 0;
}

Status check_reading(const Caller& caller, const SiteCall& call, const ModelReading& reading,
                     const Argument& name) noexcept {
  QKV_RETURN_IF_ERROR(check_place(caller, call, name, reading.site, reading.layer));
  const ModelRange rows{reading.row_begin, reading.row_end};
  QKV_RETURN_IF_ERROR(check_range(caller, name, "rows", rows, call.length));
  const TensorView<float> expected = site_view(site_axes(call.config, reading.site, call.keys),
                                               call.batch, size_of(rows, call.length), nullptr);
  const char* to = kNames[static_cast<std::size_t>(reading.site)];
  const Extents shape(expected.shape, expected.rank);
  return reading.site == ModelSite::kLogits ? check_dense(caller, to, reading.to, shape)
                                            : check_output(caller, to, reading.to, shape);
}

/// `value` or `add`, if it is given: of the shape that is chosen; strides may be 0, also that of the last axis.
Status check_operand(const Caller& caller, const Argument& name, const char* part,
                     const TensorView<const float>& view, Extents expected) noexcept {
  if (view.absent()) {
    return {};
  }
  bool fits = view.rank == expected.rank;
  for (int axis = 0; axis < expected.rank; ++axis) {
    fits = fits && view.extent(axis) == expected.data[axis];
  }
  if (!fits) {
    return refuse(StatusCode::kShapeMismatch, caller, "the {} of {} is {}, expected {}",
                  Verbatim{part}, name, Extents(view), expected);
  }
  if (view.size() > 0 && !view.data) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "the {} of {} has no data, expected {} elements", Verbatim{part}, name, expected);
  }
  return check_strides(caller, part, view);
}

Status check_edit(const Caller& caller, const SiteCall& call, const ModelEdit& edit,
                  const Argument& name) noexcept {
  using enum ModelSite;
  QKV_RETURN_IF_ERROR(check_place(caller, call, name, edit.site, edit.layer));
  const bool only_read = edit.site == kHeads || edit.site == kFinal || edit.site == kEntropy ||
                         edit.site == kLogits || edit.site == kNormWeights;
  if (only_read) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "the site of {} is {}, expected one that something in the pass reads", name,
                  name_of(edit.site));
  }
  if (edit.value.absent() && edit.add.absent() && !edit.scale) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "{} has none of value, add and scale, expected one at least", name);
  }
  const SiteAxes axes = site_axes(call.config, edit.site, call.keys);
  if (edit.head >= 0 && axes.heads == 0) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "{} chooses head {}, expected none: {} has no heads", name, edit.head,
                  name_of(edit.site));
  }
  if (edit.head >= 0 && edit.head >= axes.heads) {
    return refuse(StatusCode::kOutOfRange, caller, "the head of {} is {}, expected [0, {})", name,
                  edit.head, axes.heads);
  }
  const bool of_keys = has_keys(edit.site);
  if (!is_whole(of_keys ? edit.columns : edit.keys)) {
    return refuse(StatusCode::kInvalidArgument, caller, "{} chooses {}, expected {}", name,
                  Verbatim{of_keys ? "columns" : "keys"},
                  Verbatim{of_keys ? "keys, which are the last axis of its site"
                                   : "columns: keys are those of kScores and kWeights"});
  }
  const ModelRange& last = of_keys ? edit.keys : edit.columns;
  QKV_RETURN_IF_ERROR(check_range(caller, name, "rows of the batch", edit.batch, call.batch));
  QKV_RETURN_IF_ERROR(check_range(caller, name, "rows", edit.rows, call.length));
  QKV_RETURN_IF_ERROR(check_range(caller, name, of_keys ? "keys" : "columns", last, axes.width));
  const SiteAxes chosen{axes.heads > 0 && edit.head >= 0 ? 1 : axes.heads,
                        size_of(last, axes.width)};
  std::array<Index, 4> shape{size_of(edit.batch, call.batch)};
  int rank = 1;
  if (chosen.heads > 0) {
    shape[static_cast<std::size_t>(rank++)] = chosen.heads;
  }
  shape[static_cast<std::size_t>(rank++)] = size_of(edit.rows, call.length);
  shape[static_cast<std::size_t>(rank++)] = chosen.width;
  QKV_RETURN_IF_ERROR(check_operand(caller, name, "value", edit.value, {shape, rank}));
  return check_operand(caller, name, "add", edit.add, {shape, rank});
}

Status check_lens(const Caller& caller, const SiteCall& call, const ModelLens& lens,
                  const Argument& name) noexcept {
  QKV_RETURN_IF_ERROR(check_place(caller, call, name, ModelSite::kLogits, lens.layer));
  const ModelRange rows{lens.row_begin, lens.row_end};
  QKV_RETURN_IF_ERROR(check_range(caller, name, "rows", rows, call.length));
  const Index most = std::min(head_outputs(call.config), kMostGuesses);
  const Index top = lens.ids.extent(2);
  if (top < 1 || top > most) {
    return refuse(StatusCode::kOutOfRange, caller, "{} asks for {} tokens, expected 1 to {}", name,
                  top, most);
  }
  const Index count = size_of(rows, call.length);
  QKV_RETURN_IF_ERROR(check_dense(caller, "ids", lens.ids, {call.batch, count, top}));
  return check_dense(caller, "probabilities", lens.probabilities, {call.batch, count, top});
}

}  // namespace

SiteAxes site_axes(const LanguageModelConfig& c, ModelSite site, Index keys) noexcept {
  using enum ModelSite;
  switch (site) {
    case kQ:
    case kZ:
      return {c.num_heads, c.d_k};
    case kK:
    case kV:
      return {c.num_kv_heads, c.d_k};
    case kScores:
    case kWeights:
    case kNormWeights:
      return {c.num_heads, keys};
    case kHeads:
      return {c.num_heads, c.d_model};
    case kEntropy:
      return {c.num_heads, 0};
    case kNeurons:
      return {0, c.d_feed_forward};
    case kLogits:
      return {0, head_outputs(c)};
    default:
      return {0, c.d_model};
  }
}

TensorView<float> site_view(const SiteAxes& axes, Index batch, Index rows, float* to) noexcept {
  return axes.heads == 0   ? TensorView<float>(to, {batch, rows, axes.width})
         : axes.width == 0 ? TensorView<float>(to, {batch, axes.heads, rows})
                           : TensorView<float>(to, {batch, axes.heads, rows, axes.width});
}

const char* site_name(ModelSite site) noexcept { return kNames[static_cast<std::size_t>(site)]; }

NamedSpan span_of(const ModelReading& reading) noexcept {
  return {site_name(reading.site), reading.to};
}

Status check_readings(const Caller& caller, const SiteCall& call,
                      std::span<const ModelReading> readings, const char* name) noexcept {
  for (std::size_t i = 0; i < readings.size(); ++i) {
    QKV_RETURN_IF_ERROR(
        check_reading(caller, call, readings[i], Argument{name, static_cast<Index>(i)}));
    for (const ModelReading& other : readings.subspan(i + 1)) {
      if (other.layer == readings[i].layer && other.site == readings[i].site) {
        return refuse(StatusCode::kInvalidArgument, caller,
                      "{} of layer {} is read twice, expected once", name_of(other.site),
                      other.layer);
      }
    }
  }
  return {};
}

Status check_sites(const Caller& caller, const SiteCall& call, const SiteWishes& wishes) noexcept {
  const auto& [readings, edits, lenses] = wishes;
  QKV_RETURN_IF_ERROR(check_readings(caller, call, readings, "readings"));
  for (std::size_t i = 0; i < edits.size(); ++i) {
    QKV_RETURN_IF_ERROR(check_edit(caller, call, edits[i], {"edits", static_cast<Index>(i)}));
  }
  for (std::size_t i = 0; i < lenses.size(); ++i) {
    QKV_RETURN_IF_ERROR(check_lens(caller, call, lenses[i], {"lenses", static_cast<Index>(i)}));
    for (const ModelLens& other : lenses.subspan(i + 1)) {
      if (other.layer == lenses[i].layer) {
        return refuse(StatusCode::kInvalidArgument, caller,
                      "the lens of layer {} is requested twice, expected once", other.layer);
      }
    }
  }
  return {};
}

namespace {

/// Array i of what sites write: of a reading, or the ids and then the probabilities of a lens.
NamedSpan written(const SiteWishes& wishes, std::size_t i) noexcept {
  if (i < wishes.readings.size()) {
    return span_of(wishes.readings[i]);
  }
  i -= wishes.readings.size();
  const ModelLens& lens = wishes.lenses[i / 2];
  return i % 2 == 0 ? NamedSpan{"ids", lens.ids} : NamedSpan{"probabilities", lens.probabilities};
}

}  // namespace

Status check_sites_apart(const Caller& caller, const SiteWishes& wishes, NamedSpans results,
                         NamedSpans inputs) noexcept {
  const std::size_t count = wishes.readings.size() + 2 * wishes.lenses.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::array<NamedSpan, 1> own = {{written(wishes, i)}};
    QKV_RETURN_IF_ERROR(check_apart(caller, own, results));
    QKV_RETURN_IF_ERROR(check_apart(caller, own, inputs));
    for (std::size_t other = i + 1; other < count; ++other) {
      QKV_RETURN_IF_ERROR(check_apart(caller, own, {written(wishes, other)}));
    }
  }
  for (const ModelEdit& edit : wishes.edits) {
    const std::array<NamedSpan, 2> operands = {{{"value", edit.value}, {"add", edit.add}}};
    QKV_RETURN_IF_ERROR(check_apart(caller, results, operands));
    for (std::size_t i = 0; i < count; ++i) {
      QKV_RETURN_IF_ERROR(check_apart(caller, {written(wishes, i)}, operands));
    }
  }
  return {};
}

}  // namespace qkv
