// The arguments of a call as JavaScript writes them: one block of words, so that a call crosses the
// border once however many options there are.
#pragma once

#include <cstdint>

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
struct Array {
  Address data;
  std::int32_t rank;
  std::int32_t shape[TensorView<float>::kMaxRank];

  template <class T>
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

  /// [B, H, T, d] as it stands, or [B, T, H * d] seen that way.
  template <class T>
  [[nodiscard]] TensorView<T> heads(double num_heads) const noexcept {
    if (rank != 3) {
      return view<T>();
    }
    const auto h = static_cast<Index>(num_heads);
    return split_heads(pointer<T>(data), shape[0], shape[1], h, h > 0 ? shape[2] / h : 0);
  }
};

/// Arrays first: the block is aligned to 8 bytes and an Array has 24.
struct Descriptor {
#define QKV_ARRAY(name) Array name;
#define QKV_NUMBER(name)
#include "descriptor.def"
#undef QKV_ARRAY
#undef QKV_NUMBER
#define QKV_ARRAY(name)
#define QKV_NUMBER(name) double name;
#include "descriptor.def"
#undef QKV_ARRAY
#undef QKV_NUMBER
};

/// "q,k,...;handle,...," as descriptor.ts has it.
inline constexpr const char* kFieldNames =
#define QKV_ARRAY(name) #name ","
#define QKV_NUMBER(name)
#include "descriptor.def"
#undef QKV_ARRAY
#undef QKV_NUMBER
    ";"
#define QKV_ARRAY(name)
#define QKV_NUMBER(name) #name ","
#include "descriptor.def"
#undef QKV_ARRAY
#undef QKV_NUMBER
    ;

}  // namespace qkv::wasm
