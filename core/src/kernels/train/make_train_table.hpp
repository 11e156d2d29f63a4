// Instantiates every training kernel for one instruction set.
#pragma once

#include "kernels/train/activation_backward.hpp"
#include "kernels/train/additive_attention.hpp"
#include "kernels/train/attention_backward.hpp"
#include "kernels/train/loss.hpp"
#include "kernels/train/norm_backward.hpp"
#include "kernels/train/optimizer.hpp"
#include "kernels/train/recurrent.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

template <class Isa>
inline constexpr TrainTable kTrainTable{
    .isa = Isa::kName,
    .backward_scratch = backward_scratch<Isa>,
    .attend_backward = attend_backward<Isa>,
    .gemm_transposed = gemm<Isa, Columns>,
    .normalize_backward = normalize_backward<Isa>,
    .softmax_backward = softmax_backward<Isa>,
    .relu = relu_backward<Isa>,
    .gelu = gelu_backward<Isa>,
    .gelu_tanh = gelu_tanh_backward<Isa>,
    .silu = silu_backward<Isa>,
    .silu_times = silu_times_backward<Isa>,
    .gelu_times = gelu_times_backward<Isa>,
    .gelu_tanh_times = gelu_tanh_times_backward<Isa>,
    .cross_entropy = cross_entropy<Isa>,
    .gru_step = gru_step<Isa>,
    .gru_step_backward = gru_step_backward<Isa>,
    .attend_additively = attend_additively<Isa>,
    .attend_additively_backward = attend_additively_backward<Isa>,
    .adamw = adamw<Isa>,
    .sum_of_squares = sum_of_squares<Isa>,
};

}  // namespace qkv::kernels
