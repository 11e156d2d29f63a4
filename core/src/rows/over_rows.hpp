// Kernels of rows and of single numbers, over all of an array on the threads of a pool. No bit depends on how it is cut.
#pragma once

#include "base/share.hpp"
#include "kernels/kernel_table.hpp"
#include "rows/activation_kernel.hpp"

namespace qkv {

/// A norm of args.rows rows of args.n numbers.
inline void normalize_rows(const kernels::KernelTable& table, ThreadPool* pool,
                           const kernels::NormArgs& args) noexcept {
  share(pool, args.rows, 1 + kShareElements / args.n, [&](Index begin, Index end) noexcept {
    kernels::NormArgs piece = args;
    piece.rows = end - begin;
    piece.x += begin * args.n;
    piece.out += begin * args.n;
    table.normalize(piece);
  });
}

/// A kernel that takes numbers one by one, over args.n of them; args.y may be null.
inline void over_elements(ThreadPool* pool, kernels::Elementwise kernel,
                          const kernels::ElementwiseArgs& args) noexcept {
  share(pool, args.n, kShareElements, [&](Index begin, Index end) noexcept {
    kernel({.n = end - begin,
            .x = args.x + begin,
            .y = args.y ? args.y + begin : nullptr,
            .out = args.out + begin});
  });
}

/// out = x + y.
inline void add_rows(const kernels::KernelTable& table, ThreadPool* pool,
                     const kernels::ElementwiseArgs& args) noexcept {
  over_elements(pool, table.add, args);
}

/// x = f(x) for n numbers.
inline void activate_rows(const kernels::KernelTable& table, ThreadPool* pool, Activation f,
                          float* x, Index n) noexcept {
  over_elements(pool, activation_kernel(table, f), {.n = n, .x = x, .y = nullptr, .out = x});
}

}  // namespace qkv
