// What a refused call must say.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <string>
#include <type_traits>

#include "qkv/status.hpp"

namespace qkv::test {

inline constexpr auto kShapeError = StatusCode::kShapeMismatch;
inline constexpr auto kInvalid = StatusCode::kInvalidArgument;
inline constexpr auto kRange = StatusCode::kOutOfRange;

/// Parts of the one sentence: the argument, what it was and what was expected.
struct Refusal {
  StatusCode code;
  const char* argument;
  const char* was;
  const char* expected;
};

/// What makes a correct call wrong: a lambda over the arguments. A std::function would do, but compilers
/// take quadratic time for tables of what has to be destroyed: as WebAssembly 11 s for one file, so 2.4.
template <class... Args>
class Spoil {
 public:
  template <class F>
    requires std::invocable<const F&, Args...>
  Spoil(F spoil)  // NOLINT(google-explicit-constructor): tables hold bare lambdas
      : run_([](const std::byte* room, Args... args) {
          (*std::launder(reinterpret_cast<const F*>(room)))(args...);
        }) {
    static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= kRoom &&
                  alignof(F) <= alignof(std::max_align_t));
    new (room_) F(spoil);
  }
  void operator()(Args... args) const { run_(room_, args...); }

 private:
  static constexpr std::size_t kRoom = 256;
  alignas(std::max_align_t) std::byte room_[kRoom];
  void (*run_)(const std::byte*, Args...);
};

/// Asserts the code, and that the message names `function` first and then all parts of `refusal`.
void require_refused(const Status& status, const char* function, const Refusal& refusal);

}  // namespace qkv::test
