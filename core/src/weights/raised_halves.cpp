#include "weights/raised_halves.hpp"

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/share.hpp"
#include "weights/formats.hpp"

namespace qkv {
namespace {

constexpr std::uint32_t kSign = 0x8000;
constexpr std::uint32_t kExponent = 0x7c00;
constexpr std::uint32_t kOne = 0x400;           // of an exponent field
constexpr std::uint32_t kRaise = 10 * kOne;     // what is added to exponents
constexpr std::uint32_t kTooLarge = 22 * kOne;  // of 128, whose exponent would need a sixth bit

/// Two numbers in one word, which is a float of a panel.
using Pair = std::uint32_t;
constexpr Pair each(std::uint32_t half) noexcept { return half * 0x00010001U; }

/// A multiple of 2^-24, zero or subnormal.
std::uint32_t raised_small(std::uint32_t half) noexcept {
  const std::uint32_t size = half & ~kSign;
  // As a float it has the mantissa of the raised number, and an exponent that counts from elsewhere.
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(size));
  return size == 0 ? half : (half & kSign) | ((bits >> 13U) - 126 * kOne);
}

Pair raised(Pair numbers) noexcept {
  // Where an exponent field is not zero, adding all its bits carries into the sign, which is cleared before.
  const Pair normal = ((numbers & each(kExponent)) + each(kExponent)) & each(kSign);
  if (normal == each(kSign)) {
    return numbers + each(kRaise);
  }
  Pair to = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const auto half = static_cast<std::uint32_t>(numbers >> shift & 0xffffU);
    const bool small = (half & kExponent) == 0;
    to |= Pair{small ? raised_small(half) : half + kRaise} << shift;
  }
  return to;
}

/// Whether one of them is 128 or more in magnitude.
bool too_large(Pair numbers) noexcept {
  return (((numbers & each(kExponent)) + each(kSign - kTooLarge)) & each(kSign)) != 0;
}

}  // namespace

void raise_halves(const kernels::KernelTable& table, PackedLinear& packed,
                  ThreadPool* pool) noexcept {
  const kernels::PanelFormat& format = format_of(table, packed.format);
  if (!format.raises) {
    return;
  }
  const Index panels = (packed.out + table.panel - 1) / table.panel;
  const auto floats = static_cast<Index>(panel_floats(format, packed.in));
  const Index words = panels * floats;
  ThreadPool* const helpers =
      worth_sharing(pool, static_cast<double>(words) * double{sizeof(Pair)}) ? pool : nullptr;
  const Index grain = helpers ? 1 + words / (Index{4} * helpers->threads()) : words;
  auto* const at = reinterpret_cast<std::byte*>(packed.panels.data());
  const auto word = [&](Index i) noexcept {
    Pair numbers = 0;
    std::memcpy(&numbers, at + i * Index{sizeof numbers}, sizeof numbers);
    return numbers;
  };
  std::atomic<bool> raises{true};
  share(helpers, words, grain, [&](Index begin, Index end) noexcept {
    for (Index i = begin; i < end; ++i) {
      if (too_large(word(i))) {
        raises.store(false, std::memory_order_relaxed);
        return;
      }
    }
  });
  packed.raised = raises.load(std::memory_order_relaxed);
  share(helpers, packed.raised ? words : 0, grain, [&](Index begin, Index end) noexcept {
    for (Index i = begin; i < end; ++i) {
      const Pair numbers = raised(word(i));
      std::memcpy(at + i * Index{sizeof numbers}, &numbers, sizeof numbers);
    }
  });
}

}  // namespace qkv
