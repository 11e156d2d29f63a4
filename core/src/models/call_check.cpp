#include "models/call_check.hpp"

#include <algorithm>
#include <array>

#include "check/check.hpp"
#include "models/model_check.hpp"
#include "models/site_check.hpp"

namespace qkv {

Status refuse_empty(const Caller& caller, bool exists) noexcept {
  return refuse(StatusCode::kInvalidArgument, caller, "the model is {}, expected one that {}",
                exists ? "not filled" : "empty",
                exists ? "finish() has accepted" : "create() made");
}

Status refuse_no_session(const Caller& caller) noexcept {
  return refuse(StatusCode::kInvalidArgument, caller,
                "the session is empty, expected one made by create()");
}

Status check_plain_head(const Caller& caller, const LanguageModelConfig& c) noexcept {
  if (!c.head) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "the model has no head, expected one with logits");
  }
  return has_plain_head(c)
             ? Status{}
             : refuse(StatusCode::kUnsupported, caller,
                      "the head of the model transforms the stream, pools it or gives classes, "
                      "expected one that maps it to the vocabulary");
}

namespace {

/// One of the results of a call, [B, rows, width] with as many rows as there are tokens or one.
Status check_result(const char* name, const TensorView<float>& view,
                    const TensorView<const std::int32_t>& ids, Index width) noexcept {
  if (view.absent()) {
    return {};
  }
  const Index rows = view.extent(1) == 1 ? 1 : ids.extent(1);
  return check_dense(kModelForward, name, view, {ids.extent(0), rows, width});
}

/// A session of a call, by the name that messages have for it, for rows of `batch`.
Status check_one_session(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args,
                         const ModelSession& session, const Argument& name) noexcept {
  const ModelSessionConfig& s = session.config();
  if (s.capacity == 0) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "{} is empty, expected one made by create()", name);
  }
  if (!c.causal) {
    return refuse(StatusCode::kInvalidArgument, kModelForward, kEncoder);
  }
  if (c.encoder_layers > 0 && session.source_length() == 0) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "{} has no source, expected one that encode() has read", name);
  }
  // The session may be of another model of the same heads, which has more positions.
  const Index most = std::min(s.capacity, c.max_length);
  const Index room = std::max<Index>(0, most - session.length());
  if (args.ids.extent(1) > room) {
    return refuse(StatusCode::kOutOfRange, kModelForward,
                  "{} holds {} of {} tokens and {} are to be added, expected at most {}", name,
                  session.length(), most, args.ids.extent(1), room);
  }
  return {};
}

/// A list of sessions, one for each row.
Status check_sessions(const LanguageModelConfig& c,
                      const LanguageModel::ForwardArgs& args) noexcept {
  const auto count = static_cast<Index>(args.sessions.size());
  if (args.session) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@sessions is given with a @session, expected one of the two");
  }
  if (args.ids.extent(0) != count) {
    return refuse(StatusCode::kShapeMismatch, kModelForward,
                  "@ids is {}, expected {} as @sessions has", Extents(args.ids),
                  Extents({count, kAny}));
  }
  if (!args.readings.empty() || !args.edits.empty() || !args.lenses.empty() ||
      !args.begin.stream.absent()) {
    return refuse(
        StatusCode::kInvalidArgument, kModelForward,
        "@sessions is given with readings, edits, lenses or @begin, expected none of them");
  }
  for (Index i = 0; i < count; ++i) {
    const ModelSession* session = args.sessions[static_cast<std::size_t>(i)];
    const Argument name{"sessions", i};
    if (!session) {
      return refuse(StatusCode::kInvalidArgument, kModelForward,
                    "{} is null, expected a session made by create()", name);
    }
    for (Index j = 0; j < i; ++j) {
      if (args.sessions[static_cast<std::size_t>(j)] == session) {
        return refuse(StatusCode::kInvalidArgument, kModelForward,
                      "{} is the session at {} too, expected one of its own for each row", name, j);
      }
    }
    QKV_RETURN_IF_ERROR(check_one_session(c, args, *session, name));
    if (session->config().batch != 1) {
      return refuse(StatusCode::kInvalidArgument, kModelForward,
                    "{} has a batch of {}, expected 1: each row of ids has a session of its own",
                    name, session->config().batch);
    }
  }
  return {};
}

Status check_session(const LanguageModelConfig& c,
                     const LanguageModel::ForwardArgs& args) noexcept {
  const bool many = !args.sessions.empty();
  if (!many && !args.session) {
    return c.encoder_layers == 0
               ? Status{}
               : refuse(StatusCode::kInvalidArgument, kModelForward,
                        "@session is absent, expected one with a source: the model has an encoder, "
                        "and its decoder attends to what that has read");
  }
  QKV_RETURN_IF_ERROR(many ? check_sessions(c, args)
                           : check_one_session(c, args, *args.session, Argument{"session"}));
  if (!args.key_lengths.absent()) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@key_lengths is given with a {}, expected one of the two",
                  Argument{many ? "sessions" : "session"});
  }
  if (many || args.ids.extent(0) == args.session->config().batch) {
    return {};
  }
  return refuse(StatusCode::kShapeMismatch, kModelForward,
                "@ids is {}, expected {} as @session has", Extents(args.ids),
                Extents({args.session->config().batch, kAny}));
}

/// The stream that a pass begins with.
Status check_begin(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args) noexcept {
  const ModelBegin& begin = args.begin;
  if (begin.stream.absent()) {
    return begin.layer == 0 ? Status{}
                            : refuse(StatusCode::kInvalidArgument, kModelForward,
                                     "the layer of @begin is {} and its stream is absent, expected "
                                     "a stream to begin with",
                                     begin.layer);
  }
  if (begin.layer < 0 || begin.layer >= c.num_layers) {
    return refuse(StatusCode::kOutOfRange, kModelForward,
                  "the layer of @begin is {}, expected [0, {})", begin.layer, c.num_layers);
  }
  if (!args.token_types.absent()) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@token_types is given with @begin, expected none: no embeddings are read");
  }
  return check_dense(kModelForward, "begin", begin.stream,
                     {args.ids.extent(0), args.ids.extent(1), c.d_model});
}

/// Logits, and what is made of those of tokens.
Status check_logits(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args) noexcept {
  const bool pooled = c.head_pooling != HeadPooling::kNone;
  if (!args.surprisal.absent() && (c.classes > 0 || pooled)) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@surprisal is given, expected none: the logits of the model are not those of "
                  "tokens");
  }
  if (!pooled) {
    return check_result("logits", args.logits, args.ids, head_outputs(c));
  }
  if ((args.session || !args.sessions.empty()) && !args.logits.absent() &&
      c.head_pooling != HeadPooling::kLast) {
    return refuse(
        StatusCode::kInvalidArgument, kModelForward,
        "@logits is given with a @session, expected one of the two: they are of the first "
        "token, or of all");
  }
  return check_dense_if_given(kModelForward, "logits", args.logits,
                              {args.ids.extent(0), 1, head_outputs(c)});
}

}  // namespace

Status check_call(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_tokens(kModelForward, "ids", args.ids, {c.vocabulary, c.max_length}));
  QKV_RETURN_IF_ERROR(check_types(kModelForward, c, args.token_types, args.ids));
  QKV_RETURN_IF_ERROR(check_lengths(kModelForward, "key_lengths", args.key_lengths, args.ids));
  QKV_RETURN_IF_ERROR(check_session(c, args));
  if (!c.head && !(args.logits.absent() && args.surprisal.absent())) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "{} is given, expected none: the model has no head",
                  Argument{args.logits.absent() ? "surprisal" : "logits"});
  }
  QKV_RETURN_IF_ERROR(check_logits(c, args));
  QKV_RETURN_IF_ERROR(check_result("hidden", args.hidden, args.ids, c.d_model));
  QKV_RETURN_IF_ERROR(check_dense_if_given(kModelForward, "surprisal", args.surprisal,
                                           {args.ids.extent(0), args.ids.extent(1) - 1}));
  QKV_RETURN_IF_ERROR(check_begin(c, args));
  const Index length = args.ids.extent(1);
  const SiteCall sites{c, args.ids.extent(0), length,
                       length + (args.session ? args.session->length() : 0), args.begin.layer};
  QKV_RETURN_IF_ERROR(check_sites(kModelForward, sites, {args.readings, args.edits, args.lenses}));
  const std::array<NamedSpan, 4> inputs = {{{"ids", args.ids},
                                            {"token_types", args.token_types},
                                            {"key_lengths", args.key_lengths},
                                            {"begin", args.begin.stream}}};
  const std::array<NamedSpan, 3> results = {
      {{"logits", args.logits}, {"hidden", args.hidden}, {"surprisal", args.surprisal}}};
  QKV_RETURN_IF_ERROR(check_apart(kModelForward, results, inputs));
  return check_sites_apart(kModelForward, {args.readings, args.edits, args.lenses}, results,
                           inputs);
}

}  // namespace qkv
