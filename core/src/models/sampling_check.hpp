// What is wrong with the arguments of sample().
#pragma once

#include <limits>

#include "kernels/kernel_table.hpp"
#include "qkv/sampling.hpp"

namespace qkv {

inline constexpr const char* kSample = "sample";
/// The logit of a token that is never chosen.
inline constexpr float kNever = -std::numeric_limits<float>::infinity();

/// All but the numbers of the logits.
Status check_sampling(const SamplingArgs& args) noexcept;

/// The numbers of the logits, of which `most` becomes the largest.
Status check_logits(const kernels::KernelTable& table, const TensorView<const float>& logits,
                    float& most) noexcept;

}  // namespace qkv
