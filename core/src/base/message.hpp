// The sentences of refused calls. An error site writes one sentence and gives the names and numbers in it:
//
//   return refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected a divisor of @num_heads = {}",
//                 Argument{"num_kv_heads"}, c.num_kv_heads, c.num_heads);
//
// "{}" is the place of the next value. "@name" and an Argument are names of arguments, which pass through
// set_argument_names(). The first name of a sentence is its subject and gets the caller's prefix.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// The function that a message begins with, and what precedes the name of the argument it is about:
/// TransformerBlock::create() has the weights of its attention checked with the prefix "attention.".
struct Caller {
  const char* function;
  const char* prefix;

  Caller(const char* name,  // NOLINT(google-explicit-constructor): most callers have no prefix
         const char* before = "") noexcept
      : function(name), prefix(before) {}
};

/// An expected extent that may be any number; prints as "*".
inline constexpr Index kAny = std::numeric_limits<Index>::min();

/// The name of an argument, or of one element of it, counted from 0.
struct Argument {
  const char* name;
  Index element = -1;
};

/// Extents or strides: "[2,6,8]". A rank that no view has prints as "of rank 7".
struct Extents {
  const Index* data;
  int rank;

  template <class T>
  explicit Extents(const TensorView<T>& view) noexcept : data(view.shape.data()), rank(view.rank) {}
  /// Valid to the end of the expression that holds the list.
  Extents(std::initializer_list<Index> list) noexcept : rank(static_cast<int>(list.size())) {
    data = list.begin();
  }
  Extents(const std::array<Index, TensorView<float>::kMaxRank>& list, int count) noexcept
      : data(list.data()), rank(count) {}
};

/// Text from outside the core, in which "@" and "{}" mean nothing.
struct Verbatim {
  const char* text;
};

/// What takes the place of one "{}". Points to what it was made from.
class MessageValue {
 public:
  enum class Kind : std::uint8_t {
    kText,
    kVerbatim,
    kNegative,
    kWhole,
    kReal,
    kArgument,
    kExtents
  };

  MessageValue() noexcept : kind(Kind::kVerbatim), text("") {}
  /// Part of a sentence: names in it are marked with "@".
  explicit MessageValue(const char* part) noexcept : kind(Kind::kText), text(part) {}
  explicit MessageValue(Verbatim from) noexcept : kind(Kind::kVerbatim), text(from.text) {}
  template <class T>
    requires std::integral<T>
  explicit MessageValue(T value) noexcept
      : kind(value < 0 ? Kind::kNegative : Kind::kWhole),
        whole(value < 0 ? 0 - static_cast<std::uint64_t>(value)
                        : static_cast<std::uint64_t>(value)) {}
  template <class T>
    requires std::is_enum_v<T>
  explicit MessageValue(T value) noexcept
      : MessageValue(static_cast<std::underlying_type_t<T>>(value)) {}
  /// Six significant digits, as printf's %g; NaN, Infinity and -Infinity.
  explicit MessageValue(double value) noexcept : kind(Kind::kReal), real(value) {}
  explicit MessageValue(float value) noexcept : MessageValue(static_cast<double>(value)) {}
  explicit MessageValue(const Argument& named) noexcept : kind(Kind::kArgument), argument(&named) {}
  explicit MessageValue(const Extents& list) noexcept : kind(Kind::kExtents), extents(&list) {}

  Kind kind;
  union {
    const char* text;
    std::uint64_t whole;
    double real;
    const Argument* argument;
    const Extents* extents;
  };
};

/// A sentence with as many places as there are values, or it does not compile.
template <std::size_t kValues>
struct Sentence {
  const char* text;

  consteval Sentence(const char* from)  // NOLINT(google-explicit-constructor): literals
      : text(from) {
    std::size_t places = 0;
    for (const char* c = from; *c != '\0'; ++c) {
      places += c[0] == '{' && c[1] == '}' ? 1U : 0U;
    }
    if (places != kValues) {
      places_and_values_differ();
    }
  }

 private:
  static void places_and_values_differ();  // never defined: calling it is no constant
};

/// Makes the Status of refuse().
class MessageWriter {
 public:
  [[nodiscard]] static Status compose(StatusCode code, const Caller& caller, const char* sentence,
                                      const MessageValue* values) noexcept;
};

/// "function: sentence" with the values in their places. A caller without a function (null) is left out.
template <class... Values>
[[nodiscard]] Status refuse(StatusCode code, const Caller& caller,
                            std::type_identity_t<Sentence<sizeof...(Values)>> sentence,
                            const Values&... values) noexcept {
  const MessageValue list[] = {MessageValue(values)..., MessageValue()};
  const Status refusal = MessageWriter::compose(code, caller, sentence.text, list);
  if (refusal.ok()) {
    __builtin_unreachable();  // no site refuses with kOk, which the static analyser cannot know
  }
  return refusal;
}

/// "out of memory: sentence": that says nothing about a function or its arguments.
template <class... Values>
[[nodiscard]] Status out_of_memory(std::type_identity_t<Sentence<sizeof...(Values)>> sentence,
                                   const Values&... values) noexcept {
  const MessageValue list[] = {MessageValue(values)..., MessageValue()};
  return MessageWriter::compose(StatusCode::kOutOfMemory, {nullptr}, sentence.text, list);
}

}  // namespace qkv
