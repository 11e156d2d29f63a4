/// @file
/// Scratch memory that calls borrow instead of allocating.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "qkv/parallel.hpp"
#include "qkv/status.hpp"

namespace qkv {

/// Every block the core owns starts on this boundary: one AVX-512 register, one cache line.
inline constexpr std::size_t kAlignment = 64;

/// A block of floats aligned to kAlignment, freed on destruction. Move-only.
class AlignedBuffer {
 public:
  /// An empty buffer.
  AlignedBuffer() noexcept = default;
  /// Frees the block.
  ~AlignedBuffer() { release(); }
  /// Takes the block of the other, which is left empty.
  AlignedBuffer(AlignedBuffer&& other) noexcept { swap(other); }
  /// Frees its own block and takes that of the other, which is left empty.
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    AlignedBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  /// Makes room for `count` floats; contents become undefined. Keeps the old block when it is large
  /// enough. kOutOfMemory leaves the buffer as it was.
  Status reserve(std::size_t count) noexcept;
  /// Frees the block; the buffer is empty then.
  void release() noexcept;

  /// The first float; null when empty.
  [[nodiscard]] float* data() const noexcept { return data_; }
  /// Floats there is room for.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  void swap(AlignedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }
  float* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Scratch for calls, and threads if there is a pool. A workspace grows to the size of the largest call it has
/// seen and keeps it, so a loop over calls of the same size allocates once. It serves one call at a time:
/// two threads that call at once have a workspace each, which may name the same pool.
class Workspace {
 public:
  /// With a pool, which must outlive it, calls share their work with its threads.
  explicit Workspace(ThreadPool* pool = nullptr) noexcept : pool_(pool) {}

  /// The pool, or null.
  [[nodiscard]] ThreadPool* pool() const noexcept { return pool_; }
  /// Threads of a call, the caller included; each has scratch of its own.
  [[nodiscard]] int threads() const noexcept { return pool_ ? pool_->threads() : 1; }

  /// Starts a call that needs `count` floats in all, which take() gives out. Floats given out before are no
  /// longer the caller's. kOutOfMemory leaves the block as it was.
  Status begin(std::size_t count) noexcept {
    used_ = 0;
    return buffer_.reserve(count);
  }
  /// The next `count` floats, aligned to kAlignment, their contents undefined; never null, even for 0 floats. Precondition:
  /// the count that begin() got includes padded(count).
  [[nodiscard]] float* take(std::size_t count) noexcept {
    alignas(kAlignment) static float none[kAlignment / sizeof(float)];
    float* block = buffer_.data() ? buffer_.data() + used_ : none;
    used_ += padded(count);
    return block;
  }
  /// The next `count` objects of another type. Precondition: the count that begin() got includes padded_as<T>(count).
  template <class T>
  [[nodiscard]] T* take_as(std::size_t count) noexcept {
    static_assert(std::is_trivially_default_constructible_v<T> &&
                  std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
    return new (static_cast<void*>(take(padded_as<T>(count)))) T[count];
  }
  /// The place up to which floats are given out, for rewind().
  [[nodiscard]] std::size_t mark() const noexcept { return used_; }
  /// Takes back what was given out since that mark(); the next take() gives it out again.
  void rewind(std::size_t mark) noexcept { used_ = mark; }
  /// Floats that take(count) uses up: `count` rounded up to a multiple of 16. Precondition: that multiple fits a std::size_t.
  [[nodiscard]] static constexpr std::size_t padded(std::size_t count) noexcept {
    constexpr std::size_t kUnit = kAlignment / sizeof(float);
    return (count + kUnit - 1) / kUnit * kUnit;
  }
  /// Floats that take_as<T>(count) uses up; more than begin() can allocate where a std::size_t does not hold the bytes.
  template <class T>
  [[nodiscard]] static constexpr std::size_t padded_as(std::size_t count) noexcept {
    constexpr std::size_t kMost = static_cast<std::size_t>(-1) / sizeof(T) - kAlignment;
    return count < kMost ? padded((count * sizeof(T) + sizeof(float) - 1) / sizeof(float))
                         : static_cast<std::size_t>(-1) / kAlignment * kAlignment;
  }
  /// Bytes that the workspace holds.
  [[nodiscard]] std::size_t capacity_bytes() const noexcept {
    return buffer_.capacity() * sizeof(float);
  }
  /// Frees its bytes; the next call allocates what it needs.
  void release() noexcept { buffer_.release(); }

 private:
  ThreadPool* pool_;
  AlignedBuffer buffer_;
  std::size_t used_ = 0;
};

/// Bytes that all buffers of the core own at this moment, in the whole process.
[[nodiscard]] std::size_t allocated_bytes() noexcept;
/// How many blocks the core has allocated so far, in the whole process; a steady loop leaves it unchanged.
[[nodiscard]] std::size_t allocation_count() noexcept;

}  // namespace qkv
