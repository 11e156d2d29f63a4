// Work cut into pieces for the threads of a pool.
#pragma once

#include <algorithm>
#include <atomic>

#include "qkv/parallel.hpp"

namespace qkv {

/// Multiplications and bytes of weights or keys below which a call ends before another thread has woken up: some 50
/// microseconds.
inline constexpr double kWorthSharing = 1 << 20;

/// The same for threads that are awake: some 6 microseconds.
inline constexpr double kWorthSharingAwake = 1 << 17;

/// Whether threads are of use for this work at this moment.
inline bool worth_sharing(const ThreadPool* pool, double work) noexcept {
  return pool && pool->threads() > 1 &&
         work >= (pool->awake() ? kWorthSharingAwake : kWorthSharing);
}

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

/// Calls piece(i) for i in [0, count), each once, on the pool's threads if there is a pool. Each thread goes through a
/// stretch of its own in order and then takes what is left of others: with pieces of 52 kB of weights in any order two
/// threads took 1.2 times as long.
template <class Piece>
void share_in_order(ThreadPool* pool, Index count, const Piece& piece) noexcept {
  struct alignas(64) Stretch {
    std::atomic<Index> next;
    Index end;
  };
  constexpr int kStretches = 16;
  Stretch all[kStretches];
  const int stretches = pool ? std::min(pool->threads(), kStretches) : 1;
  for (int s = 0; s < stretches; ++s) {
    all[s].next.store(count * s / stretches, std::memory_order_relaxed);
    all[s].end = count * (s + 1) / stretches;
  }
  for_each_task(pool, count, [&](Index /*any*/, int thread) noexcept {
    // As many tasks as pieces, each of which takes one piece at most: there is one for each.
    for (int s = thread % stretches;; s = (s + 1) % stretches) {
      const Index i = all[s].next.fetch_add(1, std::memory_order_relaxed);
      if (i < all[s].end) {
        piece(i);
        return;
      }
    }
  });
}

}  // namespace qkv
