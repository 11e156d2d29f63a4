// How attention() reaches into a cache.
#pragma once

#include <cstddef>

#include "attention/cache_rows.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/kv_cache.hpp"

namespace qkv {

struct KvCacheAccess {
  /// Keys and values to be appended.
  struct Tokens {
    const TensorView<const float>& keys;
    const TensorView<const float>& values;
  };

  /// append()'s checks, in the name of `caller`, for which keys and values are not arguments: those
  /// of a call, whatever it calls them, were checked to fit each other. `table`: the kernels of the call.
  static Status check(const Caller& caller, const kernels::KernelTable& table, const KvCache& cache,
                      const Tokens& added) noexcept {
    QKV_RETURN_IF_ERROR(cache.check_fits(caller, added.keys, added.values));
    return cache.check_append(caller, table, added.keys, added.values);
  }

  /// KvCache::create() for these kernels, without the first room, which make_room() takes.
  static Status prepare(const kernels::KernelTable& table, const KvCacheConfig& config,
                        KvCache& cache) noexcept {
    return KvCache::prepare(table, config, cache);
  }

  /// Room in the cache, if there is one, for `added` more tokens: the last thing of a call that may fail. So many `layers`
  /// have caches like this one.
  static Status make_room(KvCache* cache, Index added, Index layers = 1) noexcept {
    return cache ? cache->reserve(cache->length_ + added, layers) : Status{};
  }

  /// Makes a cache as small as `other`, which holds as many tokens. It stays as it is if there is no memory for the move.
  static void shrink_to(KvCache& cache, const KvCache& other) noexcept {
    if (cache.room_ > other.room_) {
      static_cast<void>(cache.move_to(other.room_));
    }
  }

  /// append() of arrays that check() has accepted and make_room() has made room for, on the threads of `pool` if there is one.
  static void append(KvCache& cache, const TensorView<const float>& keys,
                     const TensorView<const float>& values, ThreadPool* pool) noexcept {
    cache.store(keys, values, pool);
  }

  /// Of the instruction set that the cache was created for.
  [[nodiscard]] static const kernels::KernelTable* kernels(const KvCache& cache) noexcept {
    return cache.kernels_;
  }
  [[nodiscard]] static const float* k_panels(const KvCache& cache, Index b, Index h) noexcept {
    return cache.keys_.data() + (b * cache.config_.num_kv_heads + h) * key_stride(cache);
  }
  [[nodiscard]] static const float* v_blocks(const KvCache& cache, Index b, Index h) noexcept {
    return cache.values_.data() + (b * cache.config_.num_kv_heads + h) * value_stride(cache);
  }
  /// The rows of any of its heads.
  [[nodiscard]] static CacheRows rows(const KvCache& cache) noexcept {
    const KvCacheConfig& c = cache.config_;
    return {kFormats[static_cast<std::size_t>(c.format)], cache.kernels_->panel, c.d_k, c.d_v,
            cache.room_};
  }
  /// Floats from the keys and values of one head to those of the next.
  [[nodiscard]] static Index key_stride(const KvCache& cache) noexcept {
    return rows(cache).key_floats(cache.room_);
  }
  [[nodiscard]] static Index value_stride(const KvCache& cache) noexcept {
    return rows(cache).value_floats(cache.room_);
  }

 private:
  /// The formats of kernels, in the order of CacheFormat.
  static constexpr kernels::KeyFormat kFormats[] = {
      kernels::KeyFormat::kF32, kernels::KeyFormat::kBf16, kernels::KeyFormat::kInt8};
};

}  // namespace qkv
