/// @file
/// Keys and values of earlier tokens, kept where the kernels read them.
#pragma once

#include <cstdint>
#include <utility>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

namespace kernels {
struct KernelTable;
}

/// How a cache keeps its numbers.
enum class CacheFormat : std::uint8_t {
  kF32,   ///< as they come
  kBf16,  ///< rounded to bfloat16 (nearest, ties to even; NaN stays NaN), in half the memory
  /// Whole numbers of 8 bits, in 0.27 of the memory where d_k and d_v are multiples of 32. Each 32 numbers of a token's head, and
  /// what is left of them, have a scale s = bfloat16(max |x| / 127); x becomes s round(x / s), to the nearest (x / s as
  /// x (1 / s), ties to even), at most max |x| / 252 off, no zero negative. What was read out is kept as it is. Numbers with a NaN or an infinity
  /// among them become NaN, and those for which s is below 2^-96 zeros.
  kInt8,
};

/// The sizes of a cache; all but capacity at least 1.
struct KvCacheConfig {
  Index batch = 1;         ///< B
  Index num_kv_heads = 0;  ///< Hkv
  /// Most tokens; memory is taken as tokens come. May be 0.
  Index capacity = 0;
  Index d_k = 0;                           ///< width of a key
  Index d_v = 0;                           ///< width of a value; 0 means d_k
  CacheFormat format = CacheFormat::kF32;  ///< of keys and values
};

/// A cache for decoding: attention() with a cache appends the new keys and values in place, already in
/// the layout its kernels multiply from, and reads all that is there. No token is copied twice. With another format than
/// CacheFormat::kF32 results have the bits that a cache of float32 gives when it holds the rounded numbers.
/// Not for two calls at once.
///
/// Memory grows with what is held: there is room for 64 tokens at first, and a call that adds more than fit takes at least
/// twice as much, up to `capacity`, before it writes anything. So a loop allocates O(log capacity) times, and for as long as a
/// cache grows there are its old block and the new one. truncate() gives nothing back.
class KvCache {
 public:
  /// An empty cache without room; create() makes a real one.
  KvCache() noexcept = default;
  /// Move-only; a cache that was moved from is without room.
  KvCache(KvCache&& other) noexcept { *this = std::move(other); }
  /// Move-only; this cache frees what it held.
  KvCache& operator=(KvCache&& other) noexcept;

  /// A cache of at most 4 B Hkv capacity (d_k + d_v) bytes, or what CacheFormat leaves of it, d_v and capacity rounded up to whole
  /// panels, and with kInt8 d_k to a multiple of 4 and capacity to one of 64; that of 64 tokens is taken now.
  /// Errors: kOutOfRange (a size below 1, capacity below 0), kInvalidArgument (no value of CacheFormat),
  /// kOutOfMemory, kUnsupported. On error `cache` is as it was.
  static Status create(const KvCacheConfig& config, KvCache& cache) noexcept;

  /// Adds tokens at the end: keys [B, Hkv, T, d_k], values [B, Hkv, T, d_v], last axis contiguous.
  /// Errors: kShapeMismatch, kInvalidArgument, kOutOfRange (beyond capacity), kOutOfMemory (there is none for so many tokens),
  /// kUnsupported (the active instruction set is not the one it was created for). On error the cache is unchanged.
  Status append(TensorView<const float> keys, TensorView<const float> values) noexcept;

  /// Forgets all tokens from `length` on. kOutOfRange unless 0 <= length <= length().
  Status truncate(Index length) noexcept;

  /// Copies out the keys that are held, bit for bit, as float32: `keys` is [B, Hkv, length, d_k] with a
  /// contiguous last axis. Errors: kShapeMismatch, kInvalidArgument (null data, strides that put two
  /// numbers in one place).
  Status read_keys(TensorView<float> keys) const noexcept;
  /// The same for the values: `values` is [B, Hkv, length, d_v].
  Status read_values(TensorView<float> values) const noexcept;

  /// Bytes that are taken for keys and values now.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return (keys_.capacity() + values_.capacity()) * sizeof(float);
  }
  /// Bytes of keys and values of `capacity` tokens: the most that it will take.
  [[nodiscard]] std::uint64_t max_bytes() const noexcept;
  /// Tokens that are held.
  [[nodiscard]] Index length() const noexcept { return length_; }
  /// As given to create(), with d_v filled in.
  [[nodiscard]] const KvCacheConfig& config() const noexcept { return config_; }

 private:
  friend struct KvCacheAccess;
  Status check_fits(const Caller& caller, const TensorView<const float>& keys,
                    const TensorView<const float>& values) const noexcept;
  Status check_append(const Caller& caller, const kernels::KernelTable& active,
                      const TensorView<const float>& keys,
                      const TensorView<const float>& values) const noexcept;

  /// Positions in the cache.
  struct Tokens {
    Index first, count;
  };
  void store(const TensorView<const float>& keys, const TensorView<const float>& values,
             ThreadPool* pool) noexcept;
  void store_keys(Index head, Tokens tokens, const float* k, Index stride) const noexcept;
  void store_values(Index head, Tokens tokens, const float* v, Index stride) const noexcept;
  static Status prepare(const kernels::KernelTable& table, const KvCacheConfig& config,
                        KvCache& cache) noexcept;
  Status reserve(Index tokens, Index layers) noexcept;
  Status move_to(Index room) noexcept;

  KvCacheConfig config_;
  Index length_ = 0;
  Index room_ = 0;        ///< tokens that the blocks have room for: whole blocks, or `capacity`
  AlignedBuffer keys_;    ///< for each batch row and head, panels of keys: pack() of K transposed
  AlignedBuffer values_;  ///< for each batch row and head, V in blocks of 64 rows, each in panels
  const kernels::KernelTable* kernels_ = nullptr;
};

}  // namespace qkv
