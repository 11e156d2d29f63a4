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
