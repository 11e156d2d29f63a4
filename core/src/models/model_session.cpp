#include <algorithm>
#include <new>
#include <utility>

#include "attention/kv_cache_access.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "models/call_check.hpp"
#include "models/model_check.hpp"
#include "models/model_state.hpp"

namespace qkv {

ModelSession::~ModelSession() {
  for (Index n = 0; n < layers_; ++n) {
    caches_[n].~KvCache();
    if (sources_) {
      sources_[n].~KvCache();
    }
  }
}

Status ModelSession::create(const LanguageModel& model, const ModelSessionConfig& config,
                            ModelSession& session) noexcept {
  return create("ModelSession::create", model, config, session);
}

Status ModelSession::create(const char* caller, const LanguageModel& model,
                            const ModelSessionConfig& config, ModelSession& session) noexcept {
  if (!model.state_ || !model.state_->finished) {
    return refuse_empty(caller, model.state_ != nullptr);
  }
  const LanguageModelConfig& c = model.config();
  if (!c.causal) {
    return refuse(StatusCode::kInvalidArgument, caller, kEncoder);
  }
  ModelSession made;
  made.config_ = config;
  Index& capacity = made.config_.capacity;
  capacity = capacity == 0 ? c.max_length : capacity;
  QKV_RETURN_IF_ERROR(check_size(caller, "batch", config.batch));
  QKV_RETURN_IF_ERROR(check_choice(caller, "format", config.format, CacheFormat::kInt8));
  if (capacity < 1 || capacity > c.max_length) {
    return refuse(StatusCode::kOutOfRange, caller, "@capacity is {}, expected 1 to {}", capacity,
                  c.max_length);
  }
  const bool has_source = c.encoder_layers > 0;
  Index& source = made.config_.source_capacity;
  source = source == 0 && has_source ? c.max_length : source;
  if (!has_source && source != 0) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@source_capacity is {}, expected 0: the model has no encoder", source);
  }
  if (has_source && (source < 1 || source > c.max_length)) {
    return refuse(StatusCode::kOutOfRange, caller, "@source_capacity is {}, expected 1 to {}",
                  source, c.max_length);
  }
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(caller, table));
  QKV_RETURN_IF_ERROR(made.make_caches(c.num_layers, has_source));
  KvCacheConfig cache = {.batch = config.batch,
                         .num_kv_heads = c.num_kv_heads,
                         .capacity = capacity,
                         .d_k = c.d_k,
                         .d_v = c.d_k,
                         .format = config.format};
  KvCacheConfig of_source = cache;
  of_source.capacity = source;
  for (Index n = 0; n < c.num_layers; ++n) {
    QKV_RETURN_IF_ERROR(KvCacheAccess::prepare(*table, cache, made.caches_[n]));
    if (has_source) {
      QKV_RETURN_IF_ERROR(KvCacheAccess::prepare(*table, of_source, made.sources_[n]));
    }
  }
  QKV_RETURN_IF_ERROR(made.make_room(made.caches_, std::min(capacity, kernels::kKeyBlock)));
  session = std::move(made);
  return {};
}

/// Caches without room, of a session that has none.
Status ModelSession::make_caches(Index layers, bool has_source) noexcept {
  constexpr std::size_t kFloats = (sizeof(KvCache) + sizeof(float) - 1) / sizeof(float);
  QKV_RETURN_IF_ERROR(memory_.reserve(capped_product((has_source ? 2 : 1) * layers, kFloats)));
  caches_ = reinterpret_cast<KvCache*>(memory_.data());
  sources_ = has_source ? caches_ + layers : nullptr;
  for (; layers_ < layers; ++layers_) {
    new (caches_ + layers_) KvCache;
    if (has_source) {
      new (sources_ + layers_) KvCache;
    }
  }
  return {};
}

Status ModelSession::fork(ModelSession& copy) const noexcept {
  if (layers_ == 0) {
    return refuse_no_session("ModelSession::fork");
  }
  ModelSession made;
  made.config_ = config_;
  QKV_RETURN_IF_ERROR(made.make_caches(layers_, sources_ != nullptr));
  for (Index n = 0; n < layers_; ++n) {
    QKV_RETURN_IF_ERROR(KvCacheAccess::copy(caches_[n], made.caches_[n]));
    if (sources_) {
      QKV_RETURN_IF_ERROR(KvCacheAccess::copy(sources_[n], made.sources_[n]));
    }
  }
  copy = std::move(made);
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

/// Room for so many tokens in the cache of every layer, or in none: those that grew before one could not give it back.
Status ModelSession::make_room(KvCache* caches, Index tokens) noexcept {
  for (Index n = 0; n < layers_; ++n) {
    const Status status =
        KvCacheAccess::make_room(caches + n, tokens - caches[n].length(), layers_);
    if (!status.ok()) {
      for (Index grown = 0; grown < n; ++grown) {
        KvCacheAccess::shrink_to(caches[grown], KvCacheAccess::room(caches[n]));
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
    sum += caches_[n].bytes() + (sources_ ? sources_[n].bytes() : 0);
  }
  return sum;
}

std::uint64_t ModelSession::max_bytes() const noexcept {
  if (layers_ == 0) {
    return 0;
  }
  const std::uint64_t of_source = sources_ ? sources_[0].max_bytes() : 0;
  return static_cast<std::uint64_t>(layers_) * (caches_[0].max_bytes() + of_source);
}

}  // namespace qkv
