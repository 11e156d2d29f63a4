// The arrays of one call, each in a block of its own that AddressSanitizer watches the ends of, and what
// they held before it.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "input.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv::fuzz {

/// What an operator asks of an array.
struct Needs {
  bool output = false;
  bool dense = false;          ///< else strides are free, but for the last axis
  bool free_last = false;      ///< its last axis too
  unsigned unconstrained = 0;  ///< axes that no other argument must match, as bits
};

/// Ends the program with what was found; libFuzzer keeps the input.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...);

class Arena {
 public:
  /// `input` also says which of the arrays to come, if any, will not be as its operator wants it.
  explicit Arena(Input& input);

  /// An array of this shape, or one that is spoiled; its memory is as large as its shape and strides say,
  /// unless no memory is.
  template <class T>
  TensorView<T> array(std::initializer_list<Index> shape, const Needs& needs) {
    TensorView<T> view;
    view.rank = static_cast<int>(shape.size());
    Layout layout{view.rank, {}, {}, sizeof(T), false};
    std::size_t axis = 0;
    for (const Index extent : shape) {
      layout.shape[axis++] = extent;
    }
    lay_out(layout, needs);
    view.data = reinterpret_cast<T*>(place(layout, needs));
    view.rank = layout.rank;
    view.shape = layout.shape;
    view.strides = layout.strides;
    if (needs.output) {
      outputs_.push_back(
          {reinterpret_cast<std::uint8_t*>(const_cast<std::remove_const_t<T>*>(view.data)),
           layout});
    }
    return view;
  }

  TensorView<const float> in(std::initializer_list<Index> shape, Needs needs = {}) {
    return array<const float>(shape, needs);
  }
  TensorView<float> out(std::initializer_list<Index> shape, Needs needs = {}) {
    needs.output = true;
    return array<float>(shape, needs);
  }
  /// Integers from least to most, of which a few may be others.
  TensorView<const std::int32_t> integers(std::initializer_list<Index> shape, Index least,
                                          Index most, const Needs& needs = {});

  /// An output that is the input itself, as operators allow that work in place.
  TensorView<float> same(const TensorView<const float>& view);

  /// Whether anything is not as its operator wants it: then the call may be refused.
  [[nodiscard]] bool spoiled() const { return spoiled_; }

  /// Remembers what all arrays hold now; they are complete.
  void remember();
  /// Puts it back.
  void restore();
  /// Fails if anything has changed.
  void require_untouched(const char* function) const;
  /// Fails if anything but elements of outputs has changed.
  void require_only_outputs(const char* function) const;

  /// The view as it was when remember() was called.
  template <class T>
  [[nodiscard]] TensorView<const T> before(const TensorView<T>& view) const {
    TensorView<const T> old;
    old.data =
        reinterpret_cast<const T*>(remembered(reinterpret_cast<const std::uint8_t*>(view.data)));
    old.rank = view.rank;
    old.shape = view.shape;
    old.strides = view.strides;
    return old;
  }
  /// The bits of all outputs.
  [[nodiscard]] std::vector<float> outputs() const;

 private:
  struct Layout {
    int rank;
    std::array<Index, 4> shape, strides;
    std::size_t element;
    bool spoiled;
  };
  struct Block {
    std::unique_ptr<std::uint8_t[]> bytes, before;
    std::size_t size = 0;
  };
  struct Output {
    std::uint8_t* data;
    Layout layout;
  };
  /// More elements than this are not made. The largest that is as its operator wants it has 2 * 9 * 140 * 160
  /// (weights of attention, behind a cache).
  static constexpr Index kMost = 1 << 19;

  void lay_out(Layout& layout, const Needs& needs);
  void spoil(Layout& layout, const Needs& needs);
  /// Elements from the first to the last, both included; kMost + 1 for more than that.
  [[nodiscard]] static Index reach(const Layout& layout);
  std::uint8_t* place(Layout& layout, const Needs& needs);
  [[nodiscard]] const std::uint8_t* remembered(const std::uint8_t* data) const;
  template <class F>
  void for_each_element(const Output& output, F f) const;

  Input& input_;
  int until_spoiled_;  ///< arrays before the one to spoil; below 0: none
  bool spoiled_ = false;
  std::vector<Block> blocks_;
  std::vector<Output> outputs_;
};

}  // namespace qkv::fuzz
