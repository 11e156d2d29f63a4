// Numbers of 16 bits from and to float32, by integer arithmetic: exact, or rounded to the nearest, ties to even. Compilers
// have types for it, but not all of them, and some call functions of a runtime library.
//
// These functions are no templates over an Isa, so they are static: every unit compiles its own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace qkv {

static inline std::uint16_t read_half(const std::byte* at) noexcept {
  std::uint16_t half = 0;
  std::memcpy(&half, at, sizeof half);
  return half;
}

static inline float from_bf16(std::uint16_t half) noexcept {
  return std::bit_cast<float>(std::uint32_t{half} << 16U);
}

/// NaN stays NaN, a quiet one.
static inline std::uint16_t to_bf16(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t even = (bits >> 16U) & 1U;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>((nan ? bits | 0x400000U : bits + 0x7fffU + even) >> 16U);
}

static inline float from_f16(std::uint16_t half) noexcept {
  const std::uint32_t sign = (std::uint32_t{half} & 0x8000U) << 16U;
  const std::uint32_t size = std::uint32_t{half} & 0x7fffU;
  const std::uint32_t normal = (size << 13U) + (112U << 23U);
  // Subnormal numbers are so many times 2^-24. Choices and no branches, so that compilers convert several at a time.
  const auto small =
      std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(size)) * 0x1p-24F);
  const std::uint32_t finite = size < 0x400U ? small : normal;
  const std::uint32_t infinite = normal + (112U << 23U);  // and NaN
  return std::bit_cast<float>(sign | (size >= 0x7c00U ? infinite : finite));
}

/// From 65,520 on infinity; NaN stays NaN, a quiet one.
static inline std::uint16_t to_f16(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t size = bits & 0x7fffffffU;
  if (size > 0x7f800000U) {
    return static_cast<std::uint16_t>(sign | 0x7e00U | ((size >> 13U) & 0x3ffU));
  }
  if (size >= 0x477ff000U) {
    return static_cast<std::uint16_t>(sign | 0x7c00U);
  }
  if (size < 0x38800000U) {  // below 2^-14: to a multiple of 2^-24, by an addition that rounds
    const std::uint32_t rounded =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5F) - 0x3f000000U;
    return static_cast<std::uint16_t>(sign | rounded);
  }
  const std::uint32_t even = (size >> 13U) & 1U;
  return static_cast<std::uint16_t>(sign | ((size - (112U << 23U) + 0xfffU + even) >> 13U));
}

/// Whether a binary16 number is neither NaN nor infinite.
static inline bool is_finite_f16(std::uint16_t half) noexcept {
  return (half & 0x7c00U) != 0x7c00U;
}

}  // namespace qkv
