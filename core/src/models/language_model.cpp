#include "qkv/language_model.hpp"

#include <algorithm>
#include <new>

#include "attention/kv_cache_access.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "models/call_check.hpp"
#include "models/call_sessions.hpp"
#include "models/model_check.hpp"
#include "models/model_pass.hpp"
#include "models/running_pass.hpp"
#include "models/site_check.hpp"

namespace qkv {

LanguageModel::~LanguageModel() {
  if (!state_) {
    return;
  }
  if (state_->encoder) {
    state_->encoder->~ModelState();
  }
  state_->~ModelState();
}

namespace {

/// Every format is one.
Status check_formats(const Caller& caller, WeightFormat format,
                     std::span<const WeightFormat> formats) noexcept {
  QKV_RETURN_IF_ERROR(check_choice(caller, "format", format, WeightFormat::kQ4K));
  for (const WeightFormat each : formats) {
    QKV_RETURN_IF_ERROR(check_choice(caller, "formats", each, WeightFormat::kQ4K));
  }
  return {};
}

}  // namespace

Status LanguageModel::create(const LanguageModelConfig& config, WeightFormat format,
                             LanguageModel& model, std::span<const WeightFormat> formats) noexcept {
  constexpr const char* kName = "LanguageModel::create";
  LanguageModelConfig whole = config;
  QKV_RETURN_IF_ERROR(check_model_config(kName, whole));
  QKV_RETURN_IF_ERROR(check_formats(kName, format, formats));
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  LanguageModel made;
  const std::size_t states = whole.encoder_layers > 0 ? 2 : 1;
  QKV_RETURN_IF_ERROR(made.memory_.reserve((states * sizeof(ModelState) - 1) / sizeof(float) + 1));
  made.state_ = new (made.memory_.data()) ModelState;
  made.state_->config = whole;
  made.state_->format = format;
  made.state_->formats = formats;
  made.state_->kernels = table;
  if (states == 2) {
    made.state_->encoder = new (made.state_ + 1) ModelState;
    made.state_->encoder->config = encoder_config(whole);
    made.state_->encoder->kernels = table;
    made.state_->encoder->decoder = made.state_;
  }
  QKV_RETURN_IF_ERROR(made.state_->lists.keep(made.state_->config));
  QKV_RETURN_IF_ERROR(made.state_->reserve());
  made.state_->formats = {};
  model = std::move(made);
  return {};
}

Status LanguageModel::check(const ForwardArgs& args) const noexcept {
  const LanguageModelConfig& c = state_->config;
  QKV_RETURN_IF_ERROR(check_call(c, args));
  const CallSessions sessions(args);
  for (Index set = 0; sessions.any() && set < sessions.sets(); ++set) {
    QKV_RETURN_IF_ERROR(check_session(kModelForward, *sessions[set]));
  }
  return {};
}

Status LanguageModel::check_session(const char* caller,
                                    const ModelSession& session) const noexcept {
  const LanguageModelConfig& c = state_->config;
  const Index layers = session.layers_;
  const KvCacheConfig& cache = session.caches_[0].config();
  QKV_RETURN_IF_ERROR(check_same_kernels(
      caller, "the session", KvCacheAccess::kernels(session.caches_[0]), state_->kernels));
  for (Index n = 1; n < layers; ++n) {
    const Index held = session.caches_[n].length();
    if (held != session.length()) {
      return refuse(StatusCode::kOutOfRange, caller,
                    "@session holds {} tokens in layer {} and {} in layer 0, expected the same "
                    "in every layer: truncate() makes them equal",
                    held, n, session.length());
    }
  }
  if ((session.sources_ != nullptr) != (c.encoder_layers > 0)) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@session has {} for a source, expected {}: it belongs to another model",
                  Verbatim{session.sources_ ? "room" : "no room"},
                  Verbatim{session.sources_ ? "none" : "some"});
  }
  return layers == c.num_layers && cache.num_kv_heads == c.num_kv_heads && cache.d_k == c.d_k
             ? Status{}
             : refuse(StatusCode::kInvalidArgument, caller,
                      "@session has {} layers with {} heads of width {}, expected {} layers with "
                      "{} heads of width {}: it belongs to another model",
                      layers, cache.num_kv_heads, cache.d_k, c.num_layers, c.num_kv_heads, c.d_k);
}

Status LanguageModel::prepare(const ForwardArgs& args, Workspace& workspace,
                              RunningPass& pass) const noexcept {
  const kernels::KernelTable* active = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kModelForward, active));
  QKV_RETURN_IF_ERROR(check_same_kernels(kModelForward, "the model", state_->kernels, active));
  QKV_RETURN_IF_ERROR(check(args));
  pass.before = CallSessions(args).length(0);
  const CallSessions sessions(args);
  QKV_RETURN_IF_ERROR(pass.plan.make(*state_, args, sessions.any() ? sessions[0]->caches_ : nullptr,
                                     workspace.threads()));
  pass.needs = needs_of(*state_, args, workspace.threads());
  pass.needs.every_row = pass.needs.every_row || pass.every_row;
  QKV_RETURN_IF_ERROR(workspace.begin(capped_sum({pass.needs.total(), pass.own})));
  return make_room(args, workspace);
}

/// Room for the tokens of a call in all sessions, or in none. In a workspace that has begun, of which nothing is taken yet.
Status LanguageModel::make_room(const ForwardArgs& args, Workspace& workspace) const noexcept {
  const CallSessions sessions(args);
  if (!sessions.any()) {
    return {};
  }
  const std::size_t mark = workspace.mark();
  auto* const rooms = workspace.take_as<Index>(static_cast<std::size_t>(sessions.sets()));
  workspace.rewind(mark);
  for (Index set = 0; set < sessions.sets(); ++set) {
    ModelSession& session = *sessions[set];
    rooms[set] = KvCacheAccess::room(session.caches_[0]);
    const Status status = session.make_room(session.caches_, session.length() + args.ids.extent(1));
    if (!status.ok()) {
      for (Index grown = 0; grown < set; ++grown) {
        for (Index n = 0; n < sessions[grown]->layers_; ++n) {
          KvCacheAccess::shrink_to(sessions[grown]->caches_[n], rooms[grown]);
        }
      }
      return status;
    }
  }
  return {};
}

void LanguageModel::run(const ForwardArgs& args, Workspace& workspace,
                        RunningPass& pass) const noexcept {
  const ModelNeeds& needs = pass.needs;
  ModelPass steps(*state_, args, needs, pass.plan, workspace);
  for (Index begin = 0; begin < needs.length; begin += needs.piece) {
    steps.run({begin, std::min(needs.length, begin + needs.piece), pass.before});
  }
  if (args.session && args.begin.layer > 0) {
    args.session->forget(pass.before);
  }
}

Status LanguageModel::forward(const ForwardArgs& args, Workspace& workspace) const noexcept {
  if (!state_ || !state_->finished) {
    return refuse_empty(kModelForward, state_ != nullptr);
  }
  RunningPass pass;
  QKV_RETURN_IF_ERROR(prepare(args, workspace, pass));
  run(args, workspace, pass);
  return {};
}

TensorView<float> LanguageModel::reading_view(const ForwardArgs& args, const ModelReading& reading,
                                              float* to) const noexcept {
  const Index length = args.ids.extent(1);
  const Index keys = length + (args.session ? args.session->length() : 0);
  const Index end = reading.row_end < 0 ? length : reading.row_end;
  return site_view(site_axes(config(), reading.site, keys), args.ids.extent(0),
                   end - reading.row_begin, to);
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

}  // namespace qkv
