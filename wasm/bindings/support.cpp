#include "support.hpp"

#include <cstring>

namespace qkv::wasm {

Workspace& scratch() noexcept {
  static Workspace workspace;
  return workspace;
}

Address& made() noexcept {
  static Address address;
  return address;
}

const char* caller_name(const char* own) noexcept {
  for (const CallerName& name : kCallerNames) {
    if (std::strcmp(name.own, own) == 0) {
      return name.caller;
    }
  }
  return own;
}

}  // namespace qkv::wasm
