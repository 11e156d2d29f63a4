/// @file
/// A pool together with its threads, for programs that have no threads of their own to give.
#pragma once

#include <thread>
#include <vector>

#include "qkv/parallel.hpp"

namespace qkv {

/// Starts threads and lets them serve a pool; stops and joins them when it goes.
/// @code
/// qkv::Threads threads(std::thread::hardware_concurrency());
/// qkv::Workspace workspace(&threads.pool());
/// @endcode
class Threads {
 public:
  /// `count` threads in all, the caller included.
  /// @throws std::system_error where the system refuses one, as std::thread does
  explicit Threads(unsigned count)
      : pool_(static_cast<int>(count < ThreadPool::kMaxThreads ? count : ThreadPool::kMaxThreads)),
        helpers_{pool_, {}} {
    for (int i = 1; i < pool_.threads(); ++i) {
      helpers_.threads.emplace_back([this] { pool_.serve(); });
    }
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// The pool they serve. Precondition of the destructor: no call uses it.
  [[nodiscard]] ThreadPool& pool() noexcept { return pool_; }

 private:
  /// A member, so that those already started end too if one cannot be.
  struct Helpers {
    ThreadPool& pool;
    std::vector<std::thread> threads;
    ~Helpers() {
      pool.stop();
      for (std::thread& thread : threads) {
        thread.join();
      }
    }
  };
  ThreadPool pool_;
  Helpers helpers_;
};

}  // namespace qkv
