// Tokens of a cache that are copied, or read and put elsewhere.
#include <algorithm>
#include <utility>

#include "attention/kv_cache_access.hpp"
#include "base/message.hpp"

namespace qkv {

Status KvCacheAccess::copy(const KvCache& from, KvCache& to) noexcept {
  constexpr Index kBlock = kernels::kKeyBlock;
  const Index filled = (from.length_ + kBlock - 1) / kBlock * kBlock;
  KvCache made;
  made.config_ = from.config_;
  made.kernels_ = from.kernels_;
  // Below the capacity room is whole blocks, and the last block of a full cache is laid out by its own length.
  const Index room = std::min(std::max(filled, kBlock), from.room_);
  if (room > 0 && !made.move_to(room).ok()) {
    return out_of_memory("out of memory: a copy of a cache of {} tokens could not be allocated",
                         from.length_);
  }
  const Index heads = from.config_.batch * from.config_.num_kv_heads;
  const Index held = std::min(filled, room);
  copy_blocks({from.keys_.data(), key_stride(from)}, {made.keys_.data(), key_stride(made)}, heads,
              rows(from).key_floats(held));
  copy_blocks({from.values_.data(), value_stride(from)}, {made.values_.data(), value_stride(made)},
              heads, rows(from).value_floats(held));
  made.length_ = from.length_;
  to = std::move(made);
  return {};
}

void KvCacheAccess::read_keys(const KvCache& cache, const HeadTokens& tokens, float* to) noexcept {
  const CacheRows all = rows(cache);
  const float* panels = cache.keys_.data() + tokens.head * key_stride(cache);
  for (Index t = 0; t < tokens.count; ++t) {
    all.read_key(panels, tokens.first + t, to + t * cache.config_.d_k);
  }
}

void KvCacheAccess::read_values(const KvCache& cache, const HeadTokens& tokens,
                                float* to) noexcept {
  const CacheRows all = rows(cache);
  const float* blocks = cache.values_.data() + tokens.head * value_stride(cache);
  for (Index t = 0; t < tokens.count; ++t) {
    all.read_value(blocks, tokens.first + t, to + t * cache.config_.d_v);
  }
}

void KvCacheAccess::write_keys(KvCache& cache, const HeadTokens& tokens,
                               const float* from) noexcept {
  cache.store_keys(tokens.head, {tokens.first, tokens.count}, from, cache.config_.d_k);
}

void KvCacheAccess::write_values(KvCache& cache, const HeadTokens& tokens,
                                 const float* from) noexcept {
  cache.store_values(tokens.head, {tokens.first, tokens.count}, from, cache.config_.d_v);
}

std::byte* KvCacheAccess::save(const KvCache& cache, std::byte* to, float* row) noexcept {
  const KvCacheConfig& c = cache.config_;
  const kernels::KeyFormat format = rows(cache).format;
  const auto write = [&](Index width) {
    save_row(format, width, row, to);
    to += saved_row_bytes(format, width);
  };
  for (Index head = 0; head < c.batch * c.num_kv_heads; ++head) {
    for (Index t = 0; t < cache.length_; ++t) {
      read_keys(cache, {head, t, 1}, row);
      write(c.d_k);
    }
    for (Index t = 0; t < cache.length_; ++t) {
      read_values(cache, {head, t, 1}, row);
      write(c.d_v);
    }
  }
  return to;
}

const std::byte* KvCacheAccess::restore(KvCache& cache, Index tokens, const std::byte* from,
                                        float* to) noexcept {
  const KvCacheConfig& c = cache.config_;
  const kernels::KeyFormat format = rows(cache).format;
  const auto read = [&](Index count, Index width) {
    for (Index t = 0; t < count; ++t) {
      read_saved_row(format, width, from, to + t * width);
      from += saved_row_bytes(format, width);
    }
  };
  constexpr Index kBlock = kernels::kKeyBlock;
  for (Index head = 0; head < c.batch * c.num_kv_heads; ++head) {
    for (Index first = 0; first < tokens; first += kBlock) {
      const Index count = std::min(kBlock, tokens - first);
      read(count, c.d_k);
      write_keys(cache, {head, first, count}, to);
    }
    for (Index first = 0; first < tokens; first += kBlock) {
      const Index count = std::min(kBlock, tokens - first);
      read(count, c.d_v);
      write_values(cache, {head, first, count}, to);
    }
  }
  cache.length_ = tokens;
  return from;
}

}  // namespace qkv
