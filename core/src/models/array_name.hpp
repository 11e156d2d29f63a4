// The names of a model's arrays, such as "layers.11.attention.wq".
#pragma once

#include <cstddef>

#include "qkv/tensor_view.hpp"

namespace qkv {

/// Most bytes of a name, with the zero at its end.
inline constexpr std::size_t kMostArrayName = 48;

/// Where an array belongs: what stands before its name is "<group>.<number>.<prefix>", or <prefix> alone without a group.
struct ArrayPlace {
  const char* group = "";
  Index number = 0;
  const char* prefix = "";

  /// The same group, and this prefix.
  [[nodiscard]] ArrayPlace with(const char* other) const noexcept { return {group, number, other}; }
};

/// The place and the name, cut at the end of the room.
inline void write_array_name(const ArrayPlace& place, const char* name,
                             char (&to)[kMostArrayName]) noexcept {
  std::size_t used = 0;
  const auto put = [&](const char* text) {
    for (; *text != '\0' && used + 1 < kMostArrayName; ++text) {
      to[used++] = *text;
    }
  };
  if (*place.group != '\0') {
    char digits[24];
    char* first = digits + sizeof(digits) - 1;
    *first = '\0';
    Index rest = place.number;
    do {
      *--first = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    put(place.group);
    put(".");
    put(first);
    put(".");
  }
  put(place.prefix);
  put(name);
  to[used] = '\0';
}

}  // namespace qkv
