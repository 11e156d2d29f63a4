#include "models/call_check.hpp"

#include <algorithm>
#include <array>

#include "check/check.hpp"
#include "models/model_check.hpp"

namespace qkv {

Status refuse_empty(const Caller& caller, bool exists) noexcept {
  return refuse(StatusCode::kInvalidArgument, caller, "the model is {}, expected one that {}",
                exists ? "not filled" : "empty",
                exists ? "finish() has accepted" : "create() made");
}

namespace {

/// Segments of the tokens.
Status check_types(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args) noexcept {
  const TensorView<const std::int32_t>& types = args.token_types;
  if (types.absent()) {
    return {};
  }
  if (c.token_types == 0) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@token_types is given, expected none: the model has no such table");
  }
  QKV_RETURN_IF_ERROR(
      check_dense(kModelForward, "token_types", types, {args.ids.extent(0), args.ids.extent(1)}));
  return check_ids(kModelForward, "token_types", {types.data, {types.size()}}, c.token_types);
}

/// One of the results of a call, [B, rows, width] with as many rows as there are tokens or one.
Status check_result(const char* name, const TensorView<float>& view,
                    const TensorView<const std::int32_t>& ids, Index width) noexcept {
  if (view.absent()) {
    return {};
  }
  const Index rows = view.extent(1) == 1 ? 1 : ids.extent(1);
  return check_dense(kModelForward, name, view, {ids.extent(0), rows, width});
}

Status check_session(const LanguageModelConfig& c,
                     const LanguageModel::ForwardArgs& args) noexcept {
  const ModelSession* session = args.session;
  if (!session) {
    return c.encoder_layers == 0
               ? Status{}
               : refuse(StatusCode::kInvalidArgument, kModelForward,
                        "@session is absent, expected one with a source: the model has an encoder, "
                        "and its decoder attends to what that has read");
  }
  const ModelSessionConfig& s = session->config();
  if (s.capacity == 0) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@session is empty, expected one made by create()");
  }
  if (!c.causal) {
    return refuse(StatusCode::kInvalidArgument, kModelForward, kEncoder);
  }
  if (c.encoder_layers > 0 && session->source_length() == 0) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@session has no source, expected one that encode() has read");
  }
  if (!args.key_lengths.absent()) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@key_lengths is given with a @session, expected one of the two");
  }
  if (args.ids.extent(0) != s.batch) {
    return refuse(StatusCode::kShapeMismatch, kModelForward,
                  "@ids is {}, expected {} as @session has", Extents(args.ids),
                  Extents({s.batch, kAny}));
  }
  // The session may be of another model of the same heads, which has more positions.
  const Index most = std::min(s.capacity, c.max_length);
  const Index room = std::max<Index>(0, most - session->length());
  if (args.ids.extent(1) > room) {
    return refuse(StatusCode::kOutOfRange, kModelForward,
                  "@session holds {} of {} tokens and {} are to be added, expected at most {}",
                  session->length(), most, args.ids.extent(1), room);
  }
  return {};
}

Status check_ablated(const LanguageModelConfig& c,
                     const std::span<const ModelHead>& ablated) noexcept {
  for (const ModelHead& each : ablated) {
    if (each.layer < 0 || each.layer >= c.num_layers || each.head < 0 || each.head >= c.num_heads) {
      return refuse(StatusCode::kOutOfRange, kModelForward,
                    "@ablated has head {} of layer {}, expected [0, {}) of [0, {})", each.head,
                    each.layer, c.num_heads, c.num_layers);
    }
  }
  return {};
}

/// One reading: its layer, and the shapes of what is written.
Status check_reading(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args,
                     const ModelReading& reading) noexcept {
  if (reading.layer < 0 || reading.layer >= c.num_layers) {
    return refuse(StatusCode::kOutOfRange, kModelForward, "@layer is {}, expected [0, {})",
                  reading.layer, c.num_layers);
  }
  const Index batch = args.ids.extent(0);
  const Index length = args.ids.extent(1);
  const Index end = reading.row_end < 0 ? length : reading.row_end;
  if (reading.row_begin < 0 || reading.row_begin > end || end > length) {
    return refuse(StatusCode::kOutOfRange, kModelForward,
                  "@row_begin is {} and @row_end {}, expected rows within 0 to {}",
                  reading.row_begin, end, length);
  }
  if (!reading.logits.absent() && !c.head) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@logits is given, expected none: the model has no head");
  }
  QKV_RETURN_IF_ERROR(check_dense_if_given(kModelForward, "residual", reading.residual,
                                           {batch, length, c.d_model}));
  QKV_RETURN_IF_ERROR(
      check_dense_if_given(kModelForward, "logits", reading.logits, {batch, length, c.vocabulary}));
  const Index rows = end - reading.row_begin;
  const Index keys = length + (args.session ? args.session->length() : 0);
  const struct {
    const char* name;
    const TensorView<float>& view;
    int rank;
    Index heads, rows, width;
  } of_heads[] = {{"weights", reading.weights, 4, c.num_heads, rows, keys},
                  {"entropy", reading.entropy, 3, c.num_heads, length, 0},
                  {"q", reading.q, 4, c.num_heads, rows, c.d_k},
                  {"k", reading.k, 4, c.num_kv_heads, length, c.d_k},
                  {"v", reading.v, 4, c.num_kv_heads, length, c.d_k}};
  for (const auto& part : of_heads) {
    if (!part.view.absent()) {
      const std::array<Index, 4> shape = {batch, part.heads, part.rows, part.width};
      QKV_RETURN_IF_ERROR(check_output(kModelForward, part.name, part.view, {shape, part.rank}));
    }
  }
  return {};
}

/// What a reading writes. Not inlined: that would be 200 bytes of a .wasm.
[[gnu::noinline]] std::array<NamedSpan, 7> spans_of(const ModelReading& r) noexcept {
  return {{{"weights", r.weights},
           {"entropy", r.entropy},
           {"residual", r.residual},
           {"logits", r.logits},
           {"q", r.q},
           {"k", r.k},
           {"v", r.v}}};
}

/// Every array that is written lies apart from every other and from what is read, and no layer is listed twice.
Status check_memory(const LanguageModel::ForwardArgs& args) noexcept {
  for (std::size_t i = 0; i < args.readings.size(); ++i) {
    for (const ModelReading& other : args.readings.subspan(i + 1)) {
      if (other.layer == args.readings[i].layer) {
        return refuse(StatusCode::kInvalidArgument, kModelForward,
                      "@layer {} is listed twice, expected once", other.layer);
      }
    }
  }
  const std::array<NamedSpan, 3> inputs = {
      {{"ids", args.ids}, {"token_types", args.token_types}, {"key_lengths", args.key_lengths}}};
  const std::array<NamedSpan, 3> results = {
      {{"logits", args.logits}, {"hidden", args.hidden}, {"surprisal", args.surprisal}}};
  return check_readings_apart(kModelForward, args.readings, spans_of, results, inputs);
}

}  // namespace

Status check_call(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_tokens(kModelForward, "ids", args.ids, {c.vocabulary, c.max_length}));
  QKV_RETURN_IF_ERROR(check_types(c, args));
  QKV_RETURN_IF_ERROR(check_lengths(kModelForward, "key_lengths", args.key_lengths, args.ids));
  QKV_RETURN_IF_ERROR(check_session(c, args));
  if (!c.head && !(args.logits.absent() && args.surprisal.absent())) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "{} is given, expected none: the model has no head",
                  Argument{args.logits.absent() ? "surprisal" : "logits"});
  }
  QKV_RETURN_IF_ERROR(check_result("logits", args.logits, args.ids, c.vocabulary));
  QKV_RETURN_IF_ERROR(check_result("hidden", args.hidden, args.ids, c.d_model));
  QKV_RETURN_IF_ERROR(check_dense_if_given(kModelForward, "surprisal", args.surprisal,
                                           {args.ids.extent(0), args.ids.extent(1) - 1}));
  QKV_RETURN_IF_ERROR(check_ablated(c, args.ablated));
  for (const ModelReading& reading : args.readings) {
    QKV_RETURN_IF_ERROR(check_reading(c, args, reading));
  }
  return check_memory(args);
}

}  // namespace qkv
