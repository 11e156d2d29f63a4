// Where arrays lie: elements that an array would write twice, and arrays that share memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "message.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// The bytes of a view.
class MemorySpan {
 public:
  /// So many steps, each `stride` bytes long.
  struct Axis {
    std::int64_t stride, steps;
  };
  /// The bytes of an element, and the axes of a view.
  static constexpr std::size_t kMostAxes = TensorView<float>::kMaxRank + 1;

  MemorySpan() noexcept = default;
  template <class T>
  MemorySpan(const TensorView<T>& view) noexcept  // NOLINT(google-explicit-constructor)
      : MemorySpan(view.data, sizeof(T), view.rank, view.shape.data(), view.strides.data()) {}

  /// Whether some byte of one is the other's too. Views that take turns in the same memory, as the thirds of a fused
  /// projection do, are apart. Of two that lie across each other with unlike strides a shared byte may go unseen.
  [[nodiscard]] bool meets(const MemorySpan& other) const noexcept;
  /// Ordered by stride, none of which is 0.
  [[nodiscard]] std::span<const Axis> axes() const noexcept { return {axes_.data(), count_}; }

 private:
  MemorySpan(const void* data, std::size_t element, int rank, const Index* shape,
             const Index* strides) noexcept;

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;  ///< begin_ when there are no elements
  std::array<Axis, kMostAxes> axes_{};
  std::size_t count_ = 0;
};

struct NamedSpan {
  const char* name;
  MemorySpan span;
};

/// Spans that lie elsewhere, as a list in braces or an array.
class NamedSpans {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  NamedSpans(std::initializer_list<NamedSpan> list) noexcept {
    // Not an initializer: GCC warns of those, though a list in braces lives as long as the call it is an argument of.
    begin_ = list.begin();
    end_ = list.end();
  }
  template <std::size_t kCount>
  // NOLINTNEXTLINE(google-explicit-constructor)
  NamedSpans(const std::array<NamedSpan, kCount>& list) noexcept
      : begin_(list.data()), end_(list.data() + kCount) {}
  [[nodiscard]] const NamedSpan* begin() const noexcept { return begin_; }
  [[nodiscard]] const NamedSpan* end() const noexcept { return end_; }

 private:
  const NamedSpan *begin_ = nullptr, *end_ = nullptr;
};

/// No output meets an input, or another output.
Status check_apart(const Caller& caller, NamedSpans outputs, NamedSpans inputs) noexcept;

/// False if two elements of a view may be one and the same.
[[nodiscard]] bool elements_are_apart(int rank, const Index* shape, const Index* strides) noexcept;

}  // namespace qkv
