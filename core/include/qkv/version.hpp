/// @file
/// The version of the library.
#pragma once

#if __cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#error "qkv needs C++20: compile with -std=c++20, or link qkv::qkv with CMake, which asks for it"
#endif

namespace qkv {

/// "major.minor.patch", the same string as in package.json.
[[nodiscard]] const char* version() noexcept;

}  // namespace qkv
