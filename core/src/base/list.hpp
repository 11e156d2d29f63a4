// A list that grows without exceptions.
#pragma once

#include <cstring>
#include <type_traits>

#include "base/float_count.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// Elements one after another, in a block of the core's own; for types that may be copied byte by byte.
template <class T>
class List {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);

 public:
  /// Appends. kOutOfMemory leaves the list as it was.
  Status push(const T& element) noexcept {
    if (size_ == room_) {
      const Index room = room_ == 0 ? 16 : 2 * room_;
      AlignedBuffer block;
      QKV_RETURN_IF_ERROR(
          block.reserve(capped_product(room, (sizeof(T) + sizeof(float) - 1) / sizeof(float))));
      if (size_ > 0) {
        std::memcpy(static_cast<void*>(block.data()), begin(),
                    static_cast<std::size_t>(size_) * sizeof(T));
      }
      block_ = static_cast<AlignedBuffer&&>(block);
      room_ = room;
    }
    std::memcpy(static_cast<void*>(begin() + size_), &element, sizeof(T));
    ++size_;
    return {};
  }
  /// Empties the list and keeps its memory.
  void clear() noexcept { size_ = 0; }

  [[nodiscard]] Index size() const noexcept { return size_; }
  [[nodiscard]] T* begin() const noexcept { return reinterpret_cast<T*>(block_.data()); }
  [[nodiscard]] T* end() const noexcept { return begin() + size_; }
  [[nodiscard]] T& operator[](Index i) const noexcept { return begin()[i]; }

 private:
  AlignedBuffer block_;
  Index size_ = 0;
  Index room_ = 0;
};

}  // namespace qkv
