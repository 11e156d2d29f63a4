// What the operators share.
#pragma once

#include <new>

#include "descriptor.hpp"
#include "qkv/rotary.hpp"
#include "qkv/status.hpp"
#include "qkv/workspace.hpp"

namespace qkv::wasm {

/// Scratch of every operator; one call at a time.
Workspace& scratch() noexcept;

/// The rotary options of a call or a layer.
[[nodiscard]] RotaryOptions read_rotary(const Descriptor& d) noexcept;

[[nodiscard]] inline Index whole(double number) noexcept { return static_cast<Index>(number); }

/// The object behind a handle; null for 0.
template <class T>
[[nodiscard]] T* object(double handle) noexcept {
  return pointer<T>(static_cast<Address>(handle));
}

/// A new T filled by `create(T&)`, its address in d.handle.
template <class T, class Create>
Status make(Descriptor& d, Create create) noexcept {
  auto* made = new (std::nothrow) T;
  if (!made) {
    return Status::error(StatusCode::kOutOfMemory, "out of memory: an object could not be made");
  }
  Status status = create(*made);
  if (!status.ok()) {
    delete made;
    return status;
  }
  d.handle = address_of(made);
  return {};
}

template <class T>
Status destroy(const Descriptor& d) noexcept {
  delete object<T>(d.handle);
  return {};
}

}  // namespace qkv::wasm
