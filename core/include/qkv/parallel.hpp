/// @file
/// Threads that share the work of a call. The core starts none: it uses those that were given to it.
#pragma once

#include <atomic>
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
/// qkv::Threads in threads.hpp does just that. Waiting threads sleep and cost nothing.
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

  /// Works for this pool until stop(). False at once if threads() - 1 others serve already. Its thread may
  /// be ended from outside between calls, and the others go on without it; if it is ended in the middle of a
  /// task, the caller waits for that task forever.
  bool serve() noexcept;
  /// Lets every serve() return, now and in future. Not while a call runs.
  void stop() noexcept;

  /// Calls task(i, thread) for every i in [0, count), each once, in any order, on any of the threads
  /// [0, threads()), no two tasks on the same one at a time; returns when all have returned. While
  /// another call has the pool, or inside of one of its tasks, the caller does it all as thread 0.
  /// Precondition: 0 <= count < 2^32.
  template <class Task>
  void run(Index count, const Task& task) noexcept {
    run_job(static_cast<std::uint32_t>(count),
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
  void run_job(std::uint32_t count, Job job) noexcept;
  void work(int thread) noexcept;
  void wait_for_others() noexcept;

  const int threads_;
  const Waiting waiting_;
  std::atomic<int> serving_{0};
  std::atomic<bool> busy_{false};
  std::atomic<bool> stopped_{false};
  Job job_;  ///< written only while no task is unfinished
  // Each on a cache line of its own: everybody writes the first, sleepers watch the second.
  alignas(64) std::atomic<std::uint32_t> unclaimed_{0};
  alignas(64) std::atomic<std::uint32_t> signal_{0};
  alignas(64) std::atomic<std::uint32_t> unfinished_{0};
};

}  // namespace qkv
