// The kinds of fields that the arguments of a call have, as JavaScript writes them: one block of words of 8
// bytes, so that a call crosses the border once however many options there are. abi.hpp has the structs.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/tensor_view.hpp"

namespace qkv::wasm {

/// An address in WebAssembly memory.
using Address = std::uint32_t;

template <class T>
[[nodiscard]] T* pointer(Address address) noexcept {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}
[[nodiscard]] inline Address address_of(const void* p) noexcept {
  return static_cast<Address>(reinterpret_cast<std::uintptr_t>(p));
}

/// A dense array; rank 0 is one that was not given.
template <class T>
struct alignas(8) Array {
  Address data;
  std::int32_t rank;
  std::int32_t shape[TensorView<T>::kMaxRank];

  [[nodiscard]] TensorView<T> view() const noexcept {
    TensorView<T> dense;
    dense.data = pointer<T>(data);
    dense.rank = rank;
    Index stride = 1;
    for (int axis = rank; axis-- > 0;) {
      const auto i = static_cast<std::size_t>(axis);
      dense.shape[i] = shape[axis];
      dense.strides[i] = stride;
      stride *= shape[axis];
    }
    return dense;
  }
  operator TensorView<T>() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)

  /// [B, H, T, d] as it is, or [B, T, H * d] seen that way.
  [[nodiscard]] TensorView<T> heads(Index num_heads) const noexcept {
    if (rank != 3) {
      return view();
    }
    const Index width = num_heads > 0 ? shape[2] / num_heads : 0;
    return split_heads(pointer<T>(data), shape[0], shape[1], num_heads, width);
  }
};
static_assert(sizeof(Array<float>) == 24, "the writer counts three words of 8 bytes");

// NOLINTBEGIN(google-explicit-constructor): each is what it holds.

/// A whole number.
struct Whole {
  double value;
  operator Index() const noexcept { return static_cast<Index>(value); }
};

/// A boolean.
struct Flag {
  double value;
  operator bool() const noexcept { return value != 0; }
};

/// The enumerator at a place of the list. Where the list is that of the enum, no table of it is kept: all of them were 109
/// bytes of qkv-simd-threads.wasm, of gzip.
template <class Enum, Enum... kValues>
[[nodiscard]] Enum enumerator_at(int place) noexcept {
  int next = 0;
  if (((static_cast<int>(kValues) == next++) && ...)) {
    return static_cast<Enum>(place);
  }
  constexpr Enum kAll[] = {kValues...};
  return kAll[place];
}

/// One of the enumerators, by its place in the list.
template <class Enum, Enum... kValues>
struct Choice {
  double value;
  operator Enum() const noexcept {
    return enumerator_at<Enum, kValues...>(static_cast<int>(value));
  }
};

/// An object by its address; null for 0.
template <class T>
struct Object {
  double value;
  operator T*() const noexcept { return pointer<T>(static_cast<Address>(value)); }
  T* operator->() const noexcept { return *this; }
};

// NOLINTEND(google-explicit-constructor)

/// A number that may be left out: NaN then, which no caller can give.
template <class T>
struct Maybe {
  double value;
  template <class U = T>
  [[nodiscard]] std::optional<U> get() const noexcept {
    return value == value ? std::optional<U>(static_cast<U>(value)) : std::nullopt;
  }
};

/// One of the enumerators, or none of them, which is 0.
template <class Enum, Enum... kValues>
struct MaybeChoice {
  double value;
  [[nodiscard]] std::optional<Enum> get() const noexcept {
    return value == 0
               ? std::nullopt
               : std::optional<Enum>(enumerator_at<Enum, kValues...>(static_cast<int>(value) - 1));
  }
};

/// A group that may be left out.
template <class Fields>
struct Given {
  Flag given;
  Fields fields;
};

/// An argument of the core and what callers call it.
struct CallerName {
  const char* own;
  const char* caller;
};

}  // namespace qkv::wasm
