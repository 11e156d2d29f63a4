// What is true of every call of every operator, whatever it was given.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "arena.hpp"
#include "compare.hpp"
#include "qkv/qkv.hpp"

namespace qkv::fuzz {

/// One call.
struct Call {
  const char* function;                          ///< as messages begin
  std::initializer_list<const char*> arguments;  ///< a message of a refusal names one of these
  std::function<Status()> run;                   ///< on the instruction set that is active
  /// Compares what was written with the oracle; where inputs are such that a bound is stated.
  std::function<void()> compare = [] {};
  /// Numbers of which every bit depends on the kernels alone, so that scalar and sse4 agree.
  bool same_bits = true;
};

/// Runs the call on every instruction set of this machine: they agree on whether it is refused and in which
/// words; a refused call has changed nothing and names an argument; one that is not has written to its
/// outputs alone, what the oracle expects there (unless an array was spoiled and is accepted all the same, and
/// has another shape than the target knows of), and scalar and sse4 the same bits. What `arena` holds is
/// remembered here.
void judge(Arena& arena, const Call& call);

/// Whether products of two elements neither overflow nor underflow to where bounds say nothing: each is 0
/// or between 2^-40 and 2^40 in size.
bool all_moderate(std::initializer_list<TensorView<const float>> views);

}  // namespace qkv::fuzz
