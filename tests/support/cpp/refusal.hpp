// What a refused call must say, and that it leaves everything as it was: tables of rows, some written,
// some made from the list of a call's arrays.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "qkv/kv_cache.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv::test {

inline constexpr auto kShapeError = StatusCode::kShapeMismatch;
inline constexpr auto kInvalid = StatusCode::kInvalidArgument;
inline constexpr auto kRange = StatusCode::kOutOfRange;
inline constexpr auto kUnsupported = StatusCode::kUnsupported;

/// Parts of the one sentence: the argument, what it was and what was expected.
struct Refusal {
  StatusCode code;
  const char* argument;
  const char* was;
  const char* expected;
};

/// Asserts the code, and that the message names `function` first and then all parts of `refusal`.
void require_refused(const Status& status, const char* function, const Refusal& refusal);

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

/// An extent that may be anything; "*" in messages.
inline constexpr Index kAny = std::numeric_limits<Index>::min();

/// A view of a call, whatever its elements are.
class ViewRef {
 public:
  template <class T>
  ViewRef(
      TensorView<T>& view)  // NOLINT(google-explicit-constructor): lists of arrays hold bare views
      : rank(view.rank),
        shape(view.shape),
        strides(view.strides),
        element(sizeof(T)),
        view_(&view),
        data_([](void* of) {
          return reinterpret_cast<std::byte*>(
              const_cast<std::remove_const_t<T>*>(static_cast<TensorView<T>*>(of)->data));
        }),
        point_([](void* of, std::byte* to) {
          static_cast<TensorView<T>*>(of)->data = reinterpret_cast<T*>(to);
        }) {}
  [[nodiscard]] std::byte* data() const { return data_(view_); }
  void point_to(std::byte* to) const { point_(view_, to); }
  /// Of a dense view.
  [[nodiscard]] std::size_t bytes() const;

  int& rank;
  std::array<Index, 4>& shape;
  std::array<Index, 4>& strides;
  std::size_t element;

 private:
  void* view_;
  std::byte* (*data_)(void*);
  void (*point_)(void*, std::byte*);
};

/// What is asked of an array besides its shape.
struct Demands {
  bool written = false;            ///< no two elements in one place, and none in another array
  bool dense = false;              ///< no gaps
  bool optional = false;           ///< may be absent
  bool missing = false;            ///< absent, it "is missing", which is kInvalidArgument
  bool broadcasts = false;         ///< to the expected shape
  bool any_rank = false;           ///< from 1 to 4, and any extents
  bool any_strides = false;        ///< of its last axis, too
  const char* in_place = nullptr;  ///< the array whose memory, from its start, it may share
};

/// An array of a call, by the name that messages give it.
struct Array {
  const char* name;
  ViewRef view;
  std::vector<Index> expected;
  Demands demands = {};
};

/// A call of one function with correct arguments, which a row spoils.
class Call {
 public:
  explicit Call(const char* name) : function(name) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  virtual Status run() = 0;
  /// Inputs, then outputs in the order of their checks.
  virtual std::vector<Array> arrays() { return {}; }
  /// What the function says that it needs.
  virtual std::size_t scratch_bytes() { return 0; }
  /// What a refused call leaves alone; of those that may take memory and give it back, allocated_bytes().
  virtual std::size_t memory() { return allocation_count(); }
  /// All that a refused call leaves alone, bit for bit, and a correct one changes.
  virtual std::vector<float> seen();

  const char* function;
  Workspace workspace;
  KvCache held;                ///< for calls that have one
  bool scratch_first = false;  ///< scratch is taken before arrays are asked where they lie

 protected:
  /// Moves all arrays() into one memory, so far apart that one may lie across an end of any other.
  void gather();

 private:
  std::vector<float> memory_;
};

/// Makes a correct call.
using Make = std::function<std::unique_ptr<Call>()>;
template <class C>
std::unique_ptr<Call> correct() {
  return std::make_unique<C>();
}

/// One way to spoil a call, and what it then says after its name.
struct Wrong {
  std::string what;
  std::function<void(Call&)> spoil;
  StatusCode code;
  std::string message;
};

/// Makes a correct call, which must succeed and write something.
void require_accepted(const Make& make);
/// Makes and spoils a correct call, which must be refused with this code and exactly this message, change nothing and ask for no
/// memory.
void require_refused(const Make& make, const Wrong& wrong);

/// A row of a written table. The message is "function: was, expected expected".
template <class C>
struct Row {
  Spoil<C&> spoil;
  StatusCode code;
  const char* was;
  const char* expected;
};

template <class C>
void require_refused(std::initializer_list<Row<C>> rows) {
  require_accepted(correct<C>);
  int n = 0;
  for (const Row<C>& row : rows) {
    require_refused(correct<C>, {"row " + std::to_string(++n) + " of its table",
                                 [&row](Call& call) { row.spoil(static_cast<C&>(call)); }, row.code,
                                 row.was + std::string(", expected ") + row.expected});
  }
}

/// Each of arrays() absent, of every other rank, of extents that do not fit.
void require_shapes_checked(const Make& make);
/// Each of arrays() without data.
void require_data_checked(const Make& make);
/// Each of arrays() with a last axis that is not contiguous, backwards, or with gaps where it must be dense.
void require_strides_checked(const Make& make);
/// Each output that need not be dense with two elements in one place.
void require_overlaps_refused(const Make& make);
/// All of these.
void require_arrays_checked(const Make& make);
/// Each output on, across the first and across the last element of each other array.
void require_sharing_refused(const Make& make);

}  // namespace qkv::test
