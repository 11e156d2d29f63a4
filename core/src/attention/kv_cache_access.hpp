// How attention() reaches into a cache.
#pragma once

#include <cstdint>
#include <cstring>

#include "attention/value_blocks.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/number_conversion.hpp"
#include "kernels/product/panels.hpp"
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
  [[nodiscard]] static ValueBlocks blocks(const KvCache& cache) noexcept {
    return {cache.room_, cache.config_.d_v, cache.kernels_->panel};
  }

  /// Floats of so many keys and values of one head.
  [[nodiscard]] static Index key_floats(const KvCache& cache, Index tokens) noexcept {
    return padded(cache, tokens) * cache.config_.d_k / numbers_of_float(cache);
  }
  [[nodiscard]] static Index value_floats(const KvCache& cache, Index tokens) noexcept {
    return padded(cache, cache.config_.d_v) * tokens / numbers_of_float(cache);
  }
  /// Floats from the keys and values of one head to those of the next.
  [[nodiscard]] static Index key_stride(const KvCache& cache) noexcept {
    return key_floats(cache, cache.room_);
  }
  [[nodiscard]] static Index value_stride(const KvCache& cache) noexcept {
    return value_floats(cache, cache.room_);
  }

  /// The format of keys and values, as kernels have it.
  [[nodiscard]] static kernels::KeyFormat format(const KvCache& cache) noexcept {
    return cache.config_.format == CacheFormat::kBf16 ? kernels::KeyFormat::kBf16
                                                      : kernels::KeyFormat::kF32;
  }
  /// Where element d of a key is, and of a value, in numbers of the cache's format.
  [[nodiscard]] static Index key_place(const KvCache& cache, Index token, Index d) noexcept {
    const Index panel = cache.kernels_->panel;
    const Index column = token % panel;
    return (token - column) * cache.config_.d_k + (format(cache) == kernels::KeyFormat::kBf16
                                                       ? kernels::half_place(d, column, panel)
                                                       : kernels::float_place(d, column, panel));
  }
  [[nodiscard]] static Index value_place(const KvCache& cache, Index token, Index d) noexcept {
    return format(cache) == kernels::KeyFormat::kBf16 ? blocks(cache).half_at(token, d)
                                                      : blocks(cache).at(token, d);
  }
  /// The number at such a place in the memory of a head.
  [[nodiscard]] static float read(const KvCache& cache, const float* head, Index place) noexcept {
    return format(cache) == kernels::KeyFormat::kBf16
               ? from_bf16(read_half(reinterpret_cast<const std::byte*>(head) + 2 * place))
               : head[place];
  }
  static void write(const KvCache& cache, float* head, Index place, float number) noexcept {
    if (format(cache) == kernels::KeyFormat::kF32) {
      head[place] = number;
      return;
    }
    const std::uint16_t half = to_bf16(number);
    std::memcpy(reinterpret_cast<std::byte*>(head) + 2 * place, &half, sizeof half);
  }

 private:
  static Index numbers_of_float(const KvCache& cache) noexcept {
    return format(cache) == kernels::KeyFormat::kBf16 ? 2 : 1;
  }
  static Index padded(const KvCache& cache, Index n) noexcept {
    const Index panel = cache.kernels_->panel;
    return (n + panel - 1) / panel * panel;
  }
};

}  // namespace qkv
