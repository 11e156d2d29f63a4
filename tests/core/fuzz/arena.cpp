#include "arena.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace qkv::fuzz {

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

Arena::Arena(Input& input)
    : input_(input), until_spoiled_(input.chance(30) ? static_cast<int>(input.in(0, 5)) : -1) {}

Index Arena::reach(const Layout& layout) {
  Index reach = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(std::clamp(layout.rank, 0, 4));
       ++axis) {
    const Index extent = layout.shape[axis];
    if (extent <= 0) {
      return 0;
    }
    const Index stride = extent > 1 ? layout.strides[axis] : 0;
    // A negative stride is refused before anything is read.
    const Index step = detail::saturated_product(extent - 1, std::max<Index>(stride, 0));
    reach = std::min(detail::saturated_sum(reach, step), kMost + 1);
  }
  return reach;
}

void Arena::lay_out(Layout& layout, const Needs& needs) {
  Index stride = 1;
  const bool repeated = !needs.output && !needs.dense && input_.chance(10);
  const bool gaps = !needs.dense && input_.chance(25);
  for (int axis = layout.rank - 1; axis >= 0; --axis) {
    const auto a = static_cast<std::size_t>(axis);
    const bool last = axis == layout.rank - 1 && !needs.free_last;
    layout.strides[a] = repeated && !last && input_.chance(50) ? 0 : stride;
    stride = detail::saturated_product(stride, layout.shape[a]);
    stride = gaps ? detail::saturated_sum(stride, input_.in(0, 3)) : stride;
  }
  if (until_spoiled_-- == 0) {
    spoil(layout, needs);
  }
  if (std::getenv("QKV_FUZZ_SHOW")) {
    std::fprintf(stderr, "%s%s of rank %d:", layout.spoiled ? "spoiled " : "",
                 needs.output ? "output" : "input", layout.rank);
    for (std::size_t i = 0; i < 4; ++i) {
      std::fprintf(stderr, " %lld/%lld", static_cast<long long>(layout.shape[i]),
                   static_cast<long long>(layout.strides[i]));
    }
    std::fputc('\n', stderr);
  }
}

void Arena::spoil(Layout& layout, const Needs& needs) {
  spoiled_ = layout.spoiled = true;
  const std::size_t axis = static_cast<std::size_t>(input_.in(0, 3));
  switch (input_.in(0, 3)) {
    case 0:
      layout.shape[axis] += input_.pick<Index>({-1, 1});
      break;
    case 1:
      layout.shape[axis] = input_.extreme();
      if (input_.chance(50)) {
        layout.shape[static_cast<std::size_t>(input_.in(0, 3))] =
            0;  // no elements: all else may be
      }
      break;
    case 2:
      layout.strides[axis] = input_.chance(50) ? input_.in(0, 9) : input_.extreme();
      break;
    default:
      layout.rank = static_cast<int>(input_.pick<Index>({0, 1, 2, 3, 4, 5, -1, 1000000}));
      break;
  }
  // No operator can see that memory is not as large as strides say, nor extents that no other argument is at
  // odds with; and one element in the place of 2^60 takes 2^60 steps.
  Index elements = 1;
  for (int i = 0; i < std::min(layout.rank, 4); ++i) {
    const Index extent = layout.shape[static_cast<std::size_t>(i)];
    elements = detail::saturated_product(elements, std::max<Index>(extent, 0));
  }
  if (reach(layout) > kMost || elements > kMost) {
    for (std::size_t i = 0; i < 4; ++i) {
      layout.shape[i] =
          needs.unconstrained != 0 ? std::min<Index>(layout.shape[i], 2) : layout.shape[i];
      layout.strides[i] = std::min<Index>(layout.strides[i], 9);
    }
  }
}

std::uint8_t* Arena::place(Layout& layout, const Needs& needs) {
  const Index elements = reach(layout);
  const auto bytes = static_cast<std::size_t>(std::min(elements, kMost)) * layout.element;
  if (!layout.spoiled && elements > kMost) {
    // It takes its extents from a spoiled array and adds gaps; without memory it is refused.
    spoiled_ = layout.spoiled = true;
    return nullptr;
  }
  if (layout.spoiled && input_.chance(20)) {
    return nullptr;
  }
  if (layout.spoiled && elements <= kMost && !blocks_.empty() && input_.chance(60)) {
    // In the memory of another array, where there is room.
    const Block& other = blocks_[static_cast<std::size_t>(input_.byte()) % blocks_.size()];
    if (other.size >= bytes) {
      const std::size_t room = (other.size - bytes) / layout.element;
      return other.bytes.get() + input_.byte() % (room + 1) * layout.element;
    }
  }
  Block block;
  // Not on the boundaries of registers; the ends are watched by AddressSanitizer.
  const std::size_t shift = static_cast<std::size_t>(input_.in(0, 3)) * sizeof(float);
  block.size = bytes + shift;
  block.bytes = std::make_unique<std::uint8_t[]>(block.size);
  std::uint8_t* data = block.bytes.get() + shift;
  if (needs.output || layout.element != sizeof(float)) {
    const std::uint8_t fill = needs.output ? 0xA5 : input_.byte();
    for (std::size_t i = 0; i < bytes; ++i) {
      data[i] = static_cast<std::uint8_t>(needs.output ? fill : (fill >> (i % 8)) & 1U);
    }
  } else {
    const std::vector<float> values = input_.floats(bytes / sizeof(float));
    std::copy_n(reinterpret_cast<const std::uint8_t*>(values.data()), bytes, data);
  }
  blocks_.push_back(std::move(block));
  return data;
}

TensorView<const std::int32_t> Arena::integers(std::initializer_list<Index> shape, Index least,
                                               Index most, const Needs& needs) {
  const auto view = array<const std::int32_t>(shape, needs);
  const Block* block = blocks_.empty() ? nullptr : &blocks_.back();
  const auto* data = reinterpret_cast<const std::uint8_t*>(view.data);
  if (!block || data < block->bytes.get() || data >= block->bytes.get() + block->size) {
    return view;
  }
  const auto count = static_cast<std::size_t>(block->bytes.get() + block->size - data) / 4;
  auto* values = const_cast<std::int32_t*>(view.data);
  const bool wrong = input_.chance(10);
  spoiled_ = spoiled_ || wrong;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<std::int32_t>(least + input_.byte() % (most - least + 1));
  }
  if (wrong && count > 0) {
    values[input_.byte() % count] = std::bit_cast<std::int32_t>(input_.word());
  }
  return view;
}

TensorView<float> Arena::same(const TensorView<const float>& view) {
  TensorView<float> out;
  out.data = const_cast<float*>(view.data);
  out.rank = view.rank;
  out.shape = view.shape;
  out.strides = view.strides;
  outputs_.push_back({reinterpret_cast<std::uint8_t*>(out.data),
                      {out.rank, out.shape, out.strides, sizeof(float), false}});
  return out;
}

void Arena::remember() {
  for (Block& block : blocks_) {
    block.before = std::make_unique<std::uint8_t[]>(block.size);
    std::memcpy(block.before.get(), block.bytes.get(), block.size);
  }
}

void Arena::restore() {
  for (const Block& block : blocks_) {
    std::memcpy(block.bytes.get(), block.before.get(), block.size);
  }
}

void Arena::require_untouched(const char* function) const {
  for (const Block& block : blocks_) {
    if (std::memcmp(block.bytes.get(), block.before.get(), block.size) != 0) {
      fail("%s: refused, and an array has changed", function);
    }
  }
}

template <class F>
void Arena::for_each_element(const Output& output, F f) const {
  const Layout& l = output.layout;
  if (l.rank < 1 || l.rank > 4 || reach(l) == 0 || reach(l) > kMost || !output.data) {
    return;
  }
  std::array<Index, 4> shape{1, 1, 1, 1};
  std::array<Index, 4> strides{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(l.rank); ++axis) {
    shape[axis] = l.shape[axis];
    strides[axis] = l.shape[axis] > 1 ? l.strides[axis] : 0;
    if (strides[axis] < 0) {
      return;  // of a call that is yet to be refused
    }
  }
  for (Index a = 0; a < shape[0]; ++a) {
    for (Index b = 0; b < shape[1]; ++b) {
      for (Index c = 0; c < shape[2]; ++c) {
        for (Index d = 0; d < shape[3]; ++d) {
          f(output.data + (a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]) *
                              static_cast<Index>(l.element));
        }
      }
    }
  }
}

void Arena::require_only_outputs(const char* function) const {
  for (const Block& block : blocks_) {
    // What was there before, but for elements of outputs.
    std::vector<std::uint8_t> expected(block.before.get(), block.before.get() + block.size);
    for (const Output& output : outputs_) {
      const std::uint8_t* const begin = block.bytes.get();
      if (output.data >= begin && output.data < begin + block.size) {
        for_each_element(output, [&](const std::uint8_t* at) {
          std::memcpy(expected.data() + (at - begin), at, sizeof(float));
        });
      }
    }
    if (!expected.empty() && std::memcmp(expected.data(), block.bytes.get(), block.size) != 0) {
      fail("%s: has written to what is no element of an output", function);
    }
  }
}

const std::uint8_t* Arena::remembered(const std::uint8_t* data) const {
  for (const Block& block : blocks_) {
    if (data >= block.bytes.get() && data <= block.bytes.get() + block.size) {
      return block.before.get() + (data - block.bytes.get());
    }
  }
  return data;
}

std::vector<float> Arena::outputs() const {
  std::vector<float> all;
  for (const Output& output : outputs_) {
    for_each_element(output, [&](const std::uint8_t* at) {
      float value = 0.0F;
      std::memcpy(&value, at, sizeof(value));
      all.push_back(value);
    });
  }
  return all;
}

}  // namespace qkv::fuzz
