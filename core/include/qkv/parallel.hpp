/// @file
/// Threads that share the work of a call. The core starts none: it uses those that were given to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "qkv/tensor_view.hpp"

namespace qkv {

/// Threads that wait for work, and the caller, which is one of them. Give it to a Workspace, and the
/// calls made with that workspace share their work: attention by batch row, head and block of queries,
/// layers also by rows and columns of their products. How the work is cut never changes a bit of the
/// result, because no sum is split.
///
/// The pool owns no thread. Whoever has one lets it serve():
/// @code
/// qkv::ThreadPool pool(2);
/// std::thread helper([&] { pool.serve(); });
/// qkv::Workspace workspace(&pool);
/// ...
/// pool.stop();
/// helper.join();
/// @endcode
/// qkv::Threads in threads.hpp does just that. Waiting threads look for work for a moment, some 50
/// microseconds, and then sleep and cost nothing.
class ThreadPool {  // NOLINT(clang-analyzer-optin.performance.Padding): lines of their own
 public:
  /// How a caller that has run out of tasks waits for those that others are at.
  enum class Waiting : std::uint8_t {
    kSleep,  ///< looks for a moment, then sleeps
    kSpin,  ///< looks until they are done: for threads that must not sleep, such as a page's main one
  };
  /// Most threads of a pool.
  static constexpr int kMaxThreads = 256;

  /// A pool of `threads` in all, the caller included: 1 is the caller alone. Clamped to [1, kMaxThreads].
  explicit ThreadPool(int threads, Waiting waiting = Waiting::kSleep) noexcept;
  /// Precondition: stop() was called and every serve() has returned.
  ~ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Threads in all, whether they serve yet or not.
  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Whether another thread works, or looks for work and has not gone to sleep yet. It may do so right after. A thread that was
  /// lost while it looked for work counts as awake from then on.
  [[nodiscard]] bool awake() const noexcept { return awake_.load(std::memory_order_relaxed) > 0; }

  /// Works for this pool until stop(). Returns false at once if no place is free: each of the
  /// threads() - 1 places besides the caller's serves one thread, and stays taken when serve() returns.
  bool serve() noexcept;
  /// The same in a chosen place, 1 <= thread < threads(). Returns false at once if it is taken.
  bool serve_as(int thread) noexcept;
  /// Lets every serve() return, now and in future. Not while a call runs.
  void stop() noexcept;

  /// Says that the thread in this place has ended from outside and will never run again, and frees the
  /// place. Any thread may call abandon(), also while a call runs. If the thread ended in the middle of a
  /// task, nobody repeats that task, because it may have changed its input in place: run() returns when
  /// the living threads have done all others, and task_lost() tells.
  /// Precondition: 1 <= thread < threads(), and the thread can no longer write to memory. Without abandon() a thread that ends between
  /// calls does no harm, and for one that ends in the middle of a task run() waits for ever: from inside
  /// the process an ended thread looks like a slow one.
  void abandon(int thread) noexcept;
  /// Whether a call since the last task_lost() lacks the work of an abandoned thread. What such a call
  /// wrote is not its result. Call it after the operators whenever abandon() is in use.
  [[nodiscard]] bool task_lost() noexcept;

  /// Calls task(i, thread) for every i in [0, count), each once, in any order, on any of the threads
  /// [0, threads()), no two tasks on the same one at a time; returns when all have returned. While
  /// another call has the pool, or inside of one of its tasks, the caller does it all as thread 0.
  template <class Task>
  void run(Index count, const Task& task) noexcept {
    run_job(static_cast<std::size_t>(count),
            {[](const void* context, Index i, int thread) noexcept {
               (*static_cast<const Task*>(context))(i, thread);
             },
             &task});
  }

 private:
  struct Job {
    void (*call)(const void* context, Index i, int thread) noexcept = nullptr;
    const void* context = nullptr;
  };
  /// What is known of the thread in a place.
  enum class Place : std::uint8_t {
    kFree,  ///< there is none
    kIdle,  ///< it has no task
    kBusy,  ///< it looks for tasks or is at one
    kLost,  ///< it was abandoned while kBusy, in the call that runs
  };
  void run_job(std::size_t count, Job job) noexcept;
  void work(int thread) noexcept;
  void serve_in(int thread) noexcept;
  void help(int thread) noexcept;
  void announce_end() noexcept;
  void wait_for_others() noexcept;
  [[nodiscard]] bool all_living_are_idle() const noexcept;
  [[nodiscard]] bool forget_lost() noexcept;

  const int threads_;
  const Waiting waiting_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> abandoned_{false};  ///< some place may be kLost
  std::atomic<bool> task_lost_{false};
  std::atomic<int> awake_{0};                    ///< threads besides the caller
  std::atomic<Place> places_[kMaxThreads] = {};  ///< [0] is the caller's and not in use
  Job job_;                                      ///< written only while no task is unfinished
  // Each on a cache line of its own: everybody writes the first, sleepers watch the second, the caller that
  // waits watches the last.
  alignas(64) std::atomic<std::size_t> unclaimed_{0};
  alignas(64) std::atomic<std::uint32_t> signal_{0};
  alignas(64) std::atomic<std::size_t> unfinished_{0};
  alignas(64) std::atomic<std::uint32_t> ended_{0};  ///< counts what may end the caller's wait
};

}  // namespace qkv
