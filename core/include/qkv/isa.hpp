/// @file
/// Which instruction set the kernels run on.
#pragma once

#include "qkv/status.hpp"

namespace qkv {

/// Number of instruction sets this library was compiled for, best first.
[[nodiscard]] int isa_count() noexcept;
/// Name of the `index`-th, e.g. "avx512vnni", "avx512", "avxvnni", "avx2", "sse4", "neon64mm", "neon64dot", "neon64",
/// "scalar", "wasm-simd128", "wasm-relaxed-simd"; null when out of range.
[[nodiscard]] const char* isa_name(int index) noexcept;
/// Whether this machine can run the `index`-th.
[[nodiscard]] bool isa_supported(int index) noexcept;

/// The instruction set that calls run on: the one named by select_isa, else by the environment
/// variable QKV_ISA, else the first of the list that the machine supports. Empty when QKV_ISA names
/// one that is unknown or cannot run here; every operator then returns kUnsupported and says so.
[[nodiscard]] const char* active_isa() noexcept;

/// Forces one from now on, for all threads. Null or "" goes back to the automatic choice.
/// kUnsupported when the name is unknown or the machine lacks it; nothing changes then.
Status select_isa(const char* name) noexcept;

}  // namespace qkv
