// Work cut into pieces for the threads of a pool.
#pragma once

#include "qkv/parallel.hpp"

namespace qkv {

/// Multiplications below which a call ends before another thread has woken up: some 20 microseconds.
inline constexpr double kWorthSharing = 1 << 20;

/// Elements that a thread takes at a time where little is done to each.
inline constexpr Index kShareElements = 16384;

/// Calls task(i, thread) for i in [0, count), on the pool's threads if there is a pool.
template <class Task>
void for_each_task(ThreadPool* pool, Index count, const Task& task) noexcept {
  if (pool) {
    pool->run(count, task);
    return;
  }
  for (Index i = 0; i < count; ++i) {
    task(i, 0);
  }
}

/// Calls piece(begin, end) for pieces of [0, n) of `grain` and what is left; for one piece without a pool.
template <class Piece>
void share(ThreadPool* pool, Index n, Index grain, const Piece& piece) noexcept {
  if (!pool || n <= grain) {
    piece(Index{0}, n);
    return;
  }
  pool->run((n + grain - 1) / grain, [&](Index i, int /*thread*/) noexcept {
    piece(i * grain, n - i * grain < grain ? n : (i + 1) * grain);
  });
}

}  // namespace qkv
