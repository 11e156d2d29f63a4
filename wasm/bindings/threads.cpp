#include "threads.hpp"

#include <cstdint>
#include <optional>

#include "support.hpp"

#ifdef __wasm_atomics__
/// Of Emscripten: sets the stack pointer of this instance, and its thread-local variables.
extern "C" void _emscripten_wasm_worker_initialize(void* stack, std::uint32_t bytes);
#endif

namespace qkv::wasm {
namespace {

std::optional<ThreadPool> pool;
AlignedBuffer stacks;

#ifdef __wasm_atomics__
void serve(void* stack, std::uint32_t bytes) {
  _emscripten_wasm_worker_initialize(stack, bytes);
  // A place of the same number as the stack, so that abandon_thread() names the same worker.
  pool->serve_as(1 + static_cast<int>(static_cast<float*>(stack) - stacks.data()) /
                         (kStackBytes / static_cast<int>(sizeof(float))));
}
#else
void serve(void* /*stack*/, std::uint32_t /*bytes*/) {}
#endif

#ifdef __wasm_atomics__
constexpr bool kShared = true;
#else
constexpr bool kShared = false;
#endif

}  // namespace

bool create_threads(int threads, bool may_sleep) noexcept {
  const auto floats = static_cast<std::size_t>(threads - 1) * kStackBytes / sizeof(float);
  if (!kShared || !stacks.reserve(floats).ok()) {
    return false;
  }
  pool.emplace(threads, may_sleep ? ThreadPool::Waiting::kSleep : ThreadPool::Waiting::kSpin);
  scratch() = Workspace(&*pool);
  return true;
}

int thread_entry() noexcept { return static_cast<int>(reinterpret_cast<std::intptr_t>(&serve)); }

void* thread_stack(int worker) noexcept {
  return stacks.data() + worker * (kStackBytes / static_cast<int>(sizeof(float)));
}

void abandon_thread(int worker) noexcept {
  if (pool) {
    pool->abandon(worker + 1);
  }
}

int abandon_entry() noexcept {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(&abandon_thread));
}

Status check_threads(const Status& status) noexcept {
  // Looked at also after an error, so that it is not reported of the next call.
  if (!pool || !pool->task_lost() || !status.ok()) {
    return status;
  }
  return Status::error(
      StatusCode::kThreadLost,
      "a thread ended during the call, expected it to run until dispose(); the output is "
      "incomplete");
}

void stop_threads() noexcept {
  if (pool) {
    pool->stop();
  }
}

}  // namespace qkv::wasm
