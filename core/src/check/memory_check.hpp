// Where arrays lie: elements that an array would write twice, and arrays that share memory.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

#include "base/message.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// The bytes that a view reaches over.
class MemorySpan {
 public:
  MemorySpan() noexcept = default;
  template <class T>
  MemorySpan(const TensorView<T>& view) noexcept  // NOLINT(google-explicit-constructor)
      : MemorySpan(view.data, sizeof(T), view.rank, view.shape.data(), view.strides.data()) {}

  /// Whether some element of one is sure to be one of the other's too. Views that take turns in the
  /// same memory, as the thirds of a fused projection do, are apart.
  [[nodiscard]] bool meets(const MemorySpan& other) const noexcept;

 private:
  MemorySpan(const void* data, std::size_t element, int rank, const Index* shape,
             const Index* strides) noexcept;
  [[nodiscard]] bool holds_an_end_of(const MemorySpan& other) const noexcept;
  /// Without gaps itself, and longer than any of the other's, in which it begins.
  [[nodiscard]] bool bridges_a_gap_of(const MemorySpan& other) const noexcept;

  std::size_t begin_ = 0;
  std::size_t end_ = 0;  ///< begin_ when there are no elements
  bool filled_ = false;  ///< no gaps in between
  std::size_t gap_ = 0;  ///< bytes of the largest one
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
