/// @file
/// The version of the library.
#pragma once

namespace qkv {

/// "major.minor.patch", the same string as in package.json.
[[nodiscard]] const char* version() noexcept;

}  // namespace qkv
