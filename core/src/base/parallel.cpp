#include "qkv/parallel.hpp"

#include <algorithm>

namespace qkv {
namespace {

using Word = std::atomic<std::uint32_t>;

/// How often a thread looks before it sleeps: some 20 to 60 microseconds, which the steps of one layer are
/// apart, so that its threads sleep between calls and not within one. With 3 microseconds two threads woke up 40 times for
/// each token of a model of 110M in Chromium, and took 1.1 times as long.
#if defined(__x86_64__) || defined(__i386__)
constexpr int kLooks = 1000;
void breathe() noexcept { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
constexpr int kLooks = 1000;
void breathe() noexcept { __asm__ volatile("isb"); }
#else
constexpr int kLooks = 20000;
// WebAssembly has no instruction for it, and wasm-opt removes a fence. This waits like one, for 2 nanoseconds.
void breathe() noexcept {
  Word own{0};
  own.fetch_add(1);
}
#endif

/// True once the word is not `old`.
bool look(const Word& word, std::uint32_t old) noexcept {
  for (int i = 0; i < kLooks; ++i) {
    if (word.load(std::memory_order_acquire) != old) {
      return true;
    }
    breathe();
  }
  return false;
}

#ifdef __wasm_atomics__
// libc++ polls where std::atomic::wait could sleep.
void wait_instruction(Word& word, std::uint32_t old) noexcept {
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(old), -1);
}
// Called through a pointer that no compiler can see through, because code after the instruction must not
// need a local variable from before it: the baseline compiler of V8 11.3 (Node 20) loses those that it
// holds in registers. Seen as a thread that woke up with the number of another.
void (*volatile const wait_elsewhere)(Word&, std::uint32_t) noexcept = &wait_instruction;
void sleep_while(Word& word, std::uint32_t old) noexcept { wait_elsewhere(word, old); }
void wake_all(Word& word) noexcept {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), 0xFFFFFFFF);
}
#else
void sleep_while(Word& word, std::uint32_t old) noexcept {
  word.wait(old, std::memory_order_acquire);
}
void wake_all(Word& word) noexcept { word.notify_all(); }
#endif

}  // namespace

ThreadPool::ThreadPool(int threads, Waiting waiting) noexcept
    : threads_(std::clamp(threads, 1, kMaxThreads)), waiting_(waiting) {}

bool ThreadPool::serve() noexcept {
  for (int thread = 1; thread < threads_; ++thread) {
    if (serve_as(thread)) {
      return true;
    }
  }
  return false;
}

bool ThreadPool::serve_as(int thread) noexcept {
  Place free = Place::kFree;
  if (!places_[thread].compare_exchange_strong(free, Place::kIdle)) {
    return false;
  }
  awake_.fetch_add(1, std::memory_order_relaxed);
  serve_in(thread);
  awake_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void ThreadPool::serve_in(int thread) noexcept {
  for (;;) {
    // Read before the work is looked for, so that work which comes too late to be seen ends the wait.
    const std::uint32_t signal = signal_.load(std::memory_order_acquire);
    if (stopped_.load(std::memory_order_acquire)) {
      return;
    }
    help(thread);
    if (!look(signal_, signal)) {
      awake_.fetch_sub(1, std::memory_order_relaxed);
      sleep_while(signal_, signal);
      awake_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

/// work() between kBusy, said before the first task is claimed, and kIdle, said after the last one is
/// finished: a thread that is not busy owes nothing.
void ThreadPool::help(int thread) noexcept {
  if (unclaimed_.load(std::memory_order_acquire) == 0) {
    return;
  }
  places_[thread].store(Place::kBusy);
  work(thread);
  places_[thread].store(Place::kIdle);
  if (abandoned_.load()) {
    announce_end();
  }
}

/// Ends the caller's wait, or lets it look again.
void ThreadPool::announce_end() noexcept {
  ended_.fetch_add(1, std::memory_order_release);
  wake_all(ended_);
}

void ThreadPool::abandon(int thread) noexcept {
  Place idle = Place::kIdle;
  Place busy = Place::kBusy;
  if (places_[thread].compare_exchange_strong(idle, Place::kFree) ||
      !places_[thread].compare_exchange_strong(busy, Place::kLost)) {
    return;
  }
  awake_.fetch_sub(1);  // it was at work
  abandoned_.store(true);
  announce_end();
}

bool ThreadPool::task_lost() noexcept { return task_lost_.exchange(false); }

void ThreadPool::stop() noexcept {
  stopped_.store(true, std::memory_order_release);
  signal_.fetch_add(1, std::memory_order_release);
  wake_all(signal_);
}

/// Claims tasks, the last first, until none is left. Who has claimed one may read job_, which stays what
/// it is until the task is finished.
void ThreadPool::work(int thread) noexcept {
  for (;;) {
    std::size_t left = unclaimed_.load(std::memory_order_acquire);
    do {
      if (left == 0) {
        return;
      }
    } while (!unclaimed_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel,
                                               std::memory_order_acquire));
    const Job job = job_;
    job.call(job.context, static_cast<Index>(left - 1), thread);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1 && thread != 0) {
      announce_end();
    }
  }
}

bool ThreadPool::all_living_are_idle() const noexcept {
  return std::none_of(places_ + 1, places_ + threads_,
                      [](const auto& place) { return place.load() == Place::kBusy; });
}

/// Frees the places of the lost. Returns whether there were any.
bool ThreadPool::forget_lost() noexcept {
  bool any = false;
  for (int thread = 1; thread < threads_; ++thread) {
    Place lost = Place::kLost;
    any = places_[thread].compare_exchange_strong(lost, Place::kFree) || any;
  }
  return any;
}

/// No task is unclaimed any more. Who has claimed one was busy before, so when all the living are idle, what
/// is unfinished belongs to the lost.
void ThreadPool::wait_for_others() noexcept {
  for (;;) {
    const std::uint32_t ended = ended_.load(std::memory_order_acquire);
    const bool finished = unfinished_.load(std::memory_order_acquire) == 0;
    if (finished || (abandoned_.load() && all_living_are_idle())) {
      break;
    }
    if (!look(ended_, ended) && waiting_ == Waiting::kSleep) {
      sleep_while(ended_, ended);
    }
  }
  if (!abandoned_.exchange(false)) [[likely]] {
    return;
  }
  // A thread may have been lost after its last task.
  if (forget_lost() && unfinished_.load(std::memory_order_acquire) != 0) {
    task_lost_.store(true);
  }
}

void ThreadPool::run_job(std::size_t count, Job job) noexcept {
  const bool alone = count <= 1 || threads_ == 1 || busy_.exchange(true, std::memory_order_acquire);
  if (alone) {
    for (std::size_t i = 0; i < count; ++i) {
      job.call(job.context, static_cast<Index>(i), 0);
    }
    return;
  }
  job_ = job;
  unfinished_.store(count, std::memory_order_relaxed);
  unclaimed_.store(count, std::memory_order_release);
  signal_.fetch_add(1, std::memory_order_release);
  wake_all(signal_);
  work(0);
  wait_for_others();
  busy_.store(false, std::memory_order_release);
}

}  // namespace qkv
