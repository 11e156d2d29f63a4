// What the operators share.
#pragma once

#include <new>

#include "abi.hpp"

namespace qkv::wasm {

/// Scratch of every operator; one call at a time.
Workspace& scratch() noexcept;

/// Where the object that the last operator made is.
Address& made() noexcept;

/// What callers call an argument of the core.
[[nodiscard]] const char* caller_name(const char* own) noexcept;

/// The instruction set of the module.
[[nodiscard]] const char* isa() noexcept;

/// A new T filled by `create(T&)`, its address in made().
template <class T, class Create>
Status make(Create create) noexcept {
  auto* object = new (std::nothrow) T;
  if (!object) {
    return Status::error(StatusCode::kOutOfMemory,
                         "out of memory: an object could not be allocated");
  }
  Status status = create(*object);
  if (!status.ok()) {
    delete object;
    return status;
  }
  made() = address_of(object);
  return {};
}

template <class T>
Status destroy(T* object) noexcept {
  delete object;
  return {};
}

}  // namespace qkv::wasm
