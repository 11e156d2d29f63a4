#include "qkv/language_model.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "attention/attention_scratch.hpp"
#include "attention/kv_cache_access.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "models/model_check.hpp"
#include "models/model_pass.hpp"
#include "rows/activation_kernel.hpp"
#include "weights/linear_product.hpp"

namespace qkv {
namespace {

Status refuse_empty(const Caller& caller, bool exists) noexcept {
  return refuse(StatusCode::kInvalidArgument, caller, "the model is {}, expected one that {}",
                exists ? "not filled" : "empty",
                exists ? "finish() has accepted" : "create() made");
}

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

/// Why a session and an encoder do not go together.
constexpr const char* kEncoder =
    "the model is an encoder, expected one with @causal for a session: every token reads all";

Status check_session(const LanguageModelConfig& c,
                     const LanguageModel::ForwardArgs& args) noexcept {
  const ModelSession* session = args.session;
  if (!session) {
    return {};
  }
  const ModelSessionConfig& s = session->config();
  if (s.capacity == 0) {
    return refuse(StatusCode::kInvalidArgument, kModelForward,
                  "@session is empty, expected one of create()");
  }
  if (!c.causal) {
    return refuse(StatusCode::kInvalidArgument, kModelForward, kEncoder);
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

/// Every array that is written lies apart from every other and from what is read.
Status check_memory(const LanguageModel::ForwardArgs& args) noexcept {
  const std::array<NamedSpan, 3> inputs = {
      {{"ids", args.ids}, {"token_types", args.token_types}, {"key_lengths", args.key_lengths}}};
  const std::array<NamedSpan, 3> results = {
      {{"logits", args.logits}, {"hidden", args.hidden}, {"surprisal", args.surprisal}}};
  QKV_RETURN_IF_ERROR(check_apart(kModelForward, results, inputs));
  for (std::size_t i = 0; i < args.readings.size(); ++i) {
    const ModelReading& r = args.readings[i];
    const std::array<NamedSpan, 7> own = spans_of(r);
    QKV_RETURN_IF_ERROR(check_apart(kModelForward, own, results));
    QKV_RETURN_IF_ERROR(check_apart(kModelForward, own, inputs));
    for (const ModelReading& other : args.readings.subspan(i + 1)) {
      if (other.layer == r.layer) {
        return refuse(StatusCode::kInvalidArgument, kModelForward,
                      "@layer {} is read twice, expected once", r.layer);
      }
      QKV_RETURN_IF_ERROR(check_apart(kModelForward, own, spans_of(other)));
    }
  }
  return {};
}

Status check_args(const LanguageModelConfig& c, const LanguageModel::ForwardArgs& args) noexcept {
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

/// What attention takes of the workspace, whatever the piece: the most of the first and the last, with all rows and with one.
std::size_t attention_needs(const ModelState& state, const ModelNeeds& needs,
                            const ModelSession* session, int threads) noexcept {
  const LanguageModelConfig& c = state.config;
  const Index before = session ? session->length() : 0;
  std::size_t most = 0;
  for (Index begin = 0; begin < needs.length; begin += needs.piece) {
    const Index end = std::min(needs.length, begin + needs.piece);
    for (const Index queries : {Index{1}, end - begin}) {
      AttentionPlan plan;
      plan.table = state.kernels;
      plan.threads = threads;
      plan.shape = {.batch = needs.batch,
                    .num_heads = c.num_heads,
                    .num_kv_heads = c.num_kv_heads,
                    .tq = queries,
                    .tk = before + end,
                    .dk = c.d_k,
                    .dv = c.d_k};
      most = std::max(most, AttentionScratch(plan, session != nullptr).total());
    }
  }
  return most;
}

/// What a checked call needs of the workspace.
ModelNeeds needs_of(const ModelState& state, const LanguageModel::ForwardArgs& args,
                    int threads) noexcept {
  const LanguageModelConfig& c = state.config;
  ModelNeeds needs;
  needs.batch = args.ids.extent(0);
  needs.length = args.ids.extent(1);
  needs.piece = args.session ? std::min(needs.length, kernels::kPieceTokens) : needs.length;
  needs.last_logits = args.logits.extent(1) == 1 && needs.length > 1;
  needs.last_hidden = args.hidden.extent(1) == 1 && needs.length > 1;
  needs.every_row = (!args.logits.absent() && !needs.last_logits) ||
                    (!args.hidden.absent() && !needs.last_hidden) || !args.surprisal.absent() ||
                    !args.key_lengths.absent();
  for (const ModelReading& reading : args.readings) {
    needs.every_row = needs.every_row || reading.layer == c.num_layers - 1;
  }
  const Index rows = detail::saturated_product(needs.batch, needs.piece);
  const Index of_q = detail::saturated_product(c.num_heads, c.d_k);
  const Index of_kv = detail::saturated_product(c.num_kv_heads, c.d_k);
  const Index hidden_rows = std::min(rows, kHiddenTokens);
  needs.stream = capped_product(rows, c.d_model);
  needs.queries = capped_product(rows, of_q);
  needs.keys = capped_product(rows, of_kv);
  needs.hidden = capped_product(hidden_rows, c.d_feed_forward);
  needs.gated = is_gated(c.activation);
  if (state.quantized_rows) {
    needs.quantized = quantized_floats(*state.kernels, rows, std::max(c.d_model, of_q));
    needs.quantized_hidden = quantized_floats(*state.kernels, hidden_rows, c.d_feed_forward);
  }
  if (!args.surprisal.absent()) {
    needs.logits = capped_product(kLogitRows, c.vocabulary);
  }
  needs.rotary = PassPlan::scratch(state, needs.piece);
  needs.attention = attention_needs(state, needs, args.session, threads);
  return needs;
}

}  // namespace

LanguageModel::~LanguageModel() {
  if (state_) {
    state_->~ModelState();
  }
}

Status LanguageModel::create(const LanguageModelConfig& config, WeightFormat format,
                             LanguageModel& model) noexcept {
  constexpr const char* kName = "LanguageModel::create";
  LanguageModelConfig whole = config;
  QKV_RETURN_IF_ERROR(check_model_config(kName, whole));
  QKV_RETURN_IF_ERROR(check_choice(kName, "format", format, WeightFormat::kInt8));
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  LanguageModel made;
  QKV_RETURN_IF_ERROR(made.memory_.reserve((sizeof(ModelState) - 1) / sizeof(float) + 1));
  made.state_ = new (made.memory_.data()) ModelState;
  made.state_->config = whole;
  made.state_->format = format;
  made.state_->kernels = table;
  QKV_RETURN_IF_ERROR(made.state_->reserve());
  QKV_RETURN_IF_ERROR(made.state_->keep_windows());
  model = std::move(made);
  return {};
}

Status LanguageModel::check(const ForwardArgs& args) const noexcept {
  const LanguageModelConfig& c = state_->config;
  QKV_RETURN_IF_ERROR(check_args(c, args));
  if (!args.session) {
    return {};
  }
  const Index layers = args.session->layers_;
  const KvCacheConfig& cache = args.session->caches_[0].config();
  QKV_RETURN_IF_ERROR(check_same_kernels(kModelForward, "the session",
                                         KvCacheAccess::kernels(args.session->caches_[0]),
                                         state_->kernels));
  for (Index n = 1; n < layers; ++n) {
    const Index held = args.session->caches_[n].length();
    if (held != args.session->length()) {
      return refuse(StatusCode::kOutOfRange, kModelForward,
                    "@session holds {} tokens in layer {} and {} in layer 0, expected as many: "
                    "truncate() makes them alike",
                    held, n, args.session->length());
    }
  }
  return layers == c.num_layers && cache.num_kv_heads == c.num_kv_heads && cache.d_k == c.d_k
             ? Status{}
             : refuse(StatusCode::kInvalidArgument, kModelForward,
                      "@session has {} layers with {} heads of {}, expected {} with {} of {}: it "
                      "is of "
                      "another model",
                      layers, cache.num_kv_heads, cache.d_k, c.num_layers, c.num_kv_heads, c.d_k);
}

Status LanguageModel::forward(const ForwardArgs& args, Workspace& workspace) const noexcept {
  if (!state_ || !state_->finished) {
    return refuse_empty(kModelForward, state_ != nullptr);
  }
  const kernels::KernelTable* active = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kModelForward, active));
  QKV_RETURN_IF_ERROR(check_same_kernels(kModelForward, "the model", state_->kernels, active));
  QKV_RETURN_IF_ERROR(check(args));
  const Index before = args.session ? args.session->length() : 0;
  PassPlan plan;
  QKV_RETURN_IF_ERROR(plan.make(*state_, args, args.session ? args.session->caches_ : nullptr,
                                workspace.threads()));
  const ModelNeeds needs = needs_of(*state_, args, workspace.threads());
  QKV_RETURN_IF_ERROR(workspace.begin(needs.total()));
  if (args.session) {
    QKV_RETURN_IF_ERROR(args.session->make_room(needs.length));
  }
  ModelPass pass(*state_, args, needs, plan, workspace);
  for (Index begin = 0; begin < needs.length; begin += needs.piece) {
    pass.run({begin, std::min(needs.length, begin + needs.piece), before});
  }
  return {};
}

std::size_t LanguageModel::forward_scratch_bytes(const ForwardArgs& args,
                                                 int threads) const noexcept {
  if (!state_ || !state_->finished || !check(args).ok()) {
    return 0;
  }
  return needs_of(*state_, args, threads).total() * sizeof(float);
}

const LanguageModelConfig& LanguageModel::config() const noexcept {
  static constexpr LanguageModelConfig kNone;
  return state_ ? state_->config : kNone;
}
WeightFormat LanguageModel::format() const noexcept {
  return state_ ? state_->format : WeightFormat::kF32;
}
Index LanguageModel::array_count() const noexcept { return state_ ? state_->entries.size() : 0; }
std::int64_t LanguageModel::parameter_count() const noexcept {
  return state_ ? state_->parameter_count : 0;
}
std::size_t LanguageModel::bytes() const noexcept { return state_ ? state_->bytes : 0; }

// -------------------------------------------------------------------------------------------- sessions

ModelSession::~ModelSession() {
  for (Index n = 0; n < layers_; ++n) {
    caches_[n].~KvCache();
  }
}

Status ModelSession::create(const LanguageModel& model, const ModelSessionConfig& config,
                            ModelSession& session) noexcept {
  constexpr const char* kName = "ModelSession::create";
  if (!model.state_ || !model.state_->finished) {
    return refuse_empty(kName, model.state_ != nullptr);
  }
  const LanguageModelConfig& c = model.config();
  if (!c.causal) {
    return refuse(StatusCode::kInvalidArgument, kName, kEncoder);
  }
  ModelSession made;
  made.config_ = config;
  Index& capacity = made.config_.capacity;
  capacity = capacity == 0 ? c.max_length : capacity;
  QKV_RETURN_IF_ERROR(check_size(kName, "batch", config.batch));
  QKV_RETURN_IF_ERROR(check_choice(kName, "format", config.format, CacheFormat::kBf16));
  if (capacity < 1 || capacity > c.max_length) {
    return refuse(StatusCode::kOutOfRange, kName, "@capacity is {}, expected 1 to {}", capacity,
                  c.max_length);
  }
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  constexpr std::size_t kFloats = (sizeof(KvCache) + sizeof(float) - 1) / sizeof(float);
  QKV_RETURN_IF_ERROR(made.memory_.reserve(capped_product(c.num_layers, kFloats)));
  made.caches_ = reinterpret_cast<KvCache*>(made.memory_.data());
  for (Index n = 0; n < c.num_layers; ++n) {
    new (made.caches_ + n) KvCache;
    made.layers_ = n + 1;
    QKV_RETURN_IF_ERROR(KvCacheAccess::prepare(*table,
                                               {.batch = config.batch,
                                                .num_kv_heads = c.num_kv_heads,
                                                .capacity = capacity,
                                                .d_k = c.d_k,
                                                .d_v = c.d_k,
                                                .format = config.format},
                                               made.caches_[n]));
  }
  QKV_RETURN_IF_ERROR(made.make_room(std::min(capacity, kernels::kKeyBlock)));
  session = std::move(made);
  return {};
}

Status ModelSession::truncate(Index length) noexcept {
  if (length < 0 || length > this->length()) {
    return refuse(StatusCode::kOutOfRange, "ModelSession::truncate",
                  "@length is {}, expected 0 to {}", length, this->length());
  }
  forget(length);
  return {};
}

/// Room in every layer, or in none: those that grew before one could not give it back.
Status ModelSession::make_room(Index added) noexcept {
  for (Index n = 0; n < layers_; ++n) {
    const Status status = KvCacheAccess::make_room(caches_ + n, added, layers_);
    if (!status.ok()) {
      for (Index grown = 0; grown < n; ++grown) {
        KvCacheAccess::shrink_to(caches_[grown], caches_[n]);
      }
      return status;
    }
  }
  return {};
}

/// Every layer, however many tokens it holds.
void ModelSession::forget(Index length) noexcept {
  for (Index n = 0; n < layers_; ++n) {
    // Cannot fail: no cache becomes longer.
    static_cast<void>(caches_[n].truncate(std::min(length, caches_[n].length())));
  }
}

std::size_t ModelSession::bytes() const noexcept {
  std::size_t sum = 0;
  for (Index n = 0; n < layers_; ++n) {
    sum += caches_[n].bytes();
  }
  return sum;
}

std::uint64_t ModelSession::max_bytes() const noexcept {
  return layers_ > 0 ? static_cast<std::uint64_t>(layers_) * caches_[0].max_bytes() : 0;
}

}  // namespace qkv
