// The memory of Eigen: a part of the caller's workspace. Eigen ends the program where an allocation fails, so a call
// counts first what its decompositions take, and Eigen takes it from there.
#pragma once

#include <cstddef>

namespace qkv {

/// While one is alive, Eigen allocates from its block on this thread. Matrices end before it.
class EigenArena {
 public:
  /// Of so many doubles at `block`.
  EigenArena(double* block, std::size_t count) noexcept;
  ~EigenArena();
  EigenArena(const EigenArena&) = delete;
  EigenArena& operator=(const EigenArena&) = delete;

  /// A block of at least so many bytes, on a boundary of 16; of the C library if there is no arena, or no room in it.
  [[nodiscard]] static void* take(std::size_t bytes) noexcept;
  /// Gives it back.
  static void give(void* block) noexcept;

  /// How often the arenas of this thread had no room: tests hold that it is never.
  [[nodiscard]] static std::size_t overflows() noexcept;
  /// The most doubles that the last one of this thread gave out at a time.
  [[nodiscard]] static std::size_t peak() noexcept;

 private:
  struct Header;
  void* take_here(std::size_t bytes) noexcept;
  void give_here(void* block) noexcept;
  [[nodiscard]] bool owns(const void* block) const noexcept;

  EigenArena* outer_;
  std::byte* begin_;
  std::byte* end_;
  std::byte* top_;
  Header* last_ = nullptr;
};

}  // namespace qkv
