// How attention() reaches into a cache.
#pragma once

#include <cstddef>
#include <cstring>

#include "attention/cache_rows.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/kv_cache.hpp"

namespace qkv {

/// Blocks of memory, one for each head of all batch rows, `stride` floats apart.
template <class T>
struct HeadBlocks {
  T* first;
  Index stride;
};

/// Copies the first `floats` of each block.
inline void copy_blocks(HeadBlocks<const float> from, HeadBlocks<float> to, Index heads,
                        Index floats) noexcept {
  for (Index head = 0; floats > 0 && head < heads; ++head) {
    std::memcpy(to.first + head * to.stride, from.first + head * from.stride,
                static_cast<std::size_t>(floats) * sizeof(float));
  }
}

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

  /// Tokens that a cache has room for.
  [[nodiscard]] static Index room(const KvCache& cache) noexcept { return cache.room_; }
  /// Gives back what a cache has taken beyond a room that it had. It stays as it is if there is no memory for the move.
  static void shrink_to(KvCache& cache, Index room) noexcept {
    if (cache.room_ > room) {
      static_cast<void>(cache.move_to(room));
    }
  }

  /// append() of arrays that check() has accepted and make_room() has made room for, on the threads of `pool` if there is one.
  static void append(KvCache& cache, const TensorView<const float>& keys,
                     const TensorView<const float>& values, ThreadPool* pool) noexcept {
    cache.store(keys, values, pool);
  }

  /// Makes `to` a cache of the same tokens, in as many blocks as they fill. On error it is as it was.
  static Status copy(const KvCache& from, KvCache& to) noexcept;
  /// Keys and values of so many tokens of a head (of all batch rows, one after another) as float32, each dense.
  struct HeadTokens {
    Index head, first, count;
  };
  static void read_keys(const KvCache& cache, const HeadTokens& tokens, float* rows) noexcept;
  static void read_values(const KvCache& cache, const HeadTokens& tokens, float* rows) noexcept;
  /// Puts them there, where there is room; the length stays. Where the last token does not end a block of keys, places of
  /// the tokens that follow in its panel may become zeros.
  static void write_keys(KvCache& cache, const HeadTokens& tokens, const float* rows) noexcept;
  static void write_values(KvCache& cache, const HeadTokens& tokens, const float* rows) noexcept;
  /// Says that the first `length` tokens are there, which write_keys() and write_values() have put there.
  static void set_length(KvCache& cache, Index length) noexcept { cache.length_ = length; }

  /// Writes the rows of all tokens, of each head its keys and then its values, as save_row() does, through `row`,
  /// [max(d_k, d_v)]; returns the end.
  static std::byte* save(const KvCache& cache, std::byte* to, float* row) noexcept;
  /// Reads so many tokens of each head, for which there is room, back through `rows`, [kKeyBlock, max(d_k, d_v)].
  static const std::byte* restore(KvCache& cache, Index tokens, const std::byte* from,
                                  float* rows) noexcept;

  /// The formats of kernels, in the order of CacheFormat.
  static constexpr kernels::KeyFormat kFormats[] = {
      kernels::KeyFormat::kF32, kernels::KeyFormat::kBf16, kernels::KeyFormat::kInt8};

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
};

}  // namespace qkv
