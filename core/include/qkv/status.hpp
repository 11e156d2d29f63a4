/// @file
/// Errors are values. Nothing in the core throws, prints or aborts.
#pragma once

#include <cstdint>

#include "qkv/version.hpp"

/// The one table of codes. X(enumerator, name, meaning). The C++ messages, the codes of the npm
/// package's QkvError and the tests that visit every code are all made from it.
#define QKV_STATUS_CODES(X)                                                              \
  X(kOk, "ok", "the call did what it says")                                              \
  X(kInvalidArgument, "invalid_argument", "an option or value that has no meaning here") \
  X(kShapeMismatch, "shape_mismatch", "an array whose rank or extents do not fit")       \
  X(kOutOfRange, "out_of_range", "a number outside the range it may take")               \
  X(kOutOfMemory, "out_of_memory", "memory could not be allocated; nothing was changed") \
  X(kUnsupported, "unsupported", "this build or this machine cannot do it")              \
  X(kThreadLost, "thread_lost", "a thread ended during the call; its result is incomplete")

namespace qkv {

/// The codes: one for each line of QKV_STATUS_CODES, which says what it means.
enum class StatusCode : std::uint8_t {
#define QKV_STATUS_ENUMERATOR(enumerator, name, meaning) enumerator,
  QKV_STATUS_CODES(QKV_STATUS_ENUMERATOR)
#undef QKV_STATUS_ENUMERATOR
};

/// Number of codes, kOk included.
inline constexpr int kStatusCodeCount = 0
#define QKV_STATUS_COUNT(enumerator, name, meaning) +1
    QKV_STATUS_CODES(QKV_STATUS_COUNT)
#undef QKV_STATUS_COUNT
    ;

/// The stable name of a code, e.g. "shape_mismatch". Never null.
[[nodiscard]] const char* status_code_name(StatusCode code) noexcept;

/// What a binding to another language calls an argument that the core calls `name`; `name` itself where they
/// agree. Gets one segment of a dotted path at a time: of "rotary.offset" first "rotary", then "offset".
/// Returns text that stays valid, never null.
using ArgumentNames = const char* (*)(const char* name) noexcept;

/// Every name of an argument in every message that is made from now on passes through `names`, in all
/// threads; null, the default, leaves names as they are.
void set_argument_names(ArgumentNames names) noexcept;

struct Caller;  // how messages begin: core/src/base/message.hpp

/// The outcome of a call: a code and, when it is not kOk, one sentence that names the function, the
/// argument, what it was and what was expected. Holds its text in place, so making one never
/// allocates. A call that returns anything but kOk has written to none of its outputs.
///
/// No function of this library returns kThreadLost: with ThreadPool::abandon() in use, the result of a call that
/// returned kOk is incomplete if ThreadPool::task_lost() says so, and bindings turn that into kThreadLost.
class [[nodiscard]] Status {
 public:
  /// Longest message, including the terminating zero; longer ones are cut.
  static constexpr int kMaxMessage = 232;

  /// Success.
  constexpr Status() noexcept { message_[0] = '\0'; }

  /// printf-style constructor for failures.
  [[gnu::format(printf, 2, 3)]] static Status error(StatusCode code, const char* format,
                                                    ...) noexcept;

  /// Whether the call did what it says.
  [[nodiscard]] constexpr bool ok() const noexcept { return code_ == StatusCode::kOk; }
  /// What went wrong, for programs; kOk when nothing did.
  [[nodiscard]] constexpr StatusCode code() const noexcept { return code_; }
  /// What went wrong, for people: "attention: k is [1,2,3], expected [*,*,*,*]". Empty when ok(), never null,
  /// valid as long as this Status. Names of nested arguments are dotted ("rotary.offset"); numbers that are
  /// none print as NaN, Infinity and -Infinity.
  [[nodiscard]] constexpr const char* message() const noexcept { return message_; }
  /// message() without the function: "k is [1,2,3], expected [*,*,*,*]". All of it where it names none, as
  /// with kOutOfMemory.
  [[nodiscard]] constexpr const char* detail() const noexcept { return message_ + detail_; }

 private:
  friend class MessageWriter;

  StatusCode code_ = StatusCode::kOk;
  std::uint8_t detail_ = 0;    ///< where detail() begins
  char message_[kMaxMessage];  ///< of success only the first is set: zeroing all costs every call
};

}  // namespace qkv

/// Leaves the enclosing function with the Status of `expression` unless it is ok.
#define QKV_RETURN_IF_ERROR(expression)      \
  do {                                       \
    ::qkv::Status qkv_status = (expression); \
    if (!qkv_status.ok()) [[unlikely]] {     \
      return qkv_status;                     \
    }                                        \
  } while (false)
