#include "threads.hpp"

#include <cstdint>
#include <optional>

#include "support.hpp"

// What a worker enters, by the conventions of LLVM for WebAssembly: its instance gets the stack before any function
// runs that could use one.
__asm__(R"(
  .globaltype __stack_pointer, i32
  .functype qkv_serve (i32) -> ()
  .globl qkv_enter
  .type qkv_enter, @function
qkv_enter:
  .functype qkv_enter (i32, i32) -> ()
  local.get 0
  local.get 1
  i32.add
  global.set __stack_pointer
  local.get 0
  call qkv_serve
  end_function
)");
extern "C" {
void qkv_enter(void* stack, std::uint32_t bytes);
void qkv_serve(float* stack);
/// Of the linker: makes the thread-local variables of this instance, in so many bytes.
void __wasm_init_tls(void* block);
}

namespace qkv::wasm {
namespace {

std::optional<ThreadPool> pool;
AlignedBuffer stacks;

}  // namespace

bool create_threads(int threads, bool may_sleep) noexcept {
  const auto floats = static_cast<std::size_t>(threads - 1) * kStackBytes / sizeof(float);
  if (!stacks.reserve(floats).ok()) {
    return false;
  }
  pool.emplace(threads, may_sleep ? ThreadPool::Waiting::kSleep : ThreadPool::Waiting::kSpin);
  scratch() = Workspace(&*pool);
  return true;
}

void serve(float* stack) noexcept {
  // A place of the same number as the stack, so that abandon_thread() names the same worker.
  pool->serve_as(1 + static_cast<int>(stack - stacks.data()) /
                         (kStackBytes / static_cast<int>(sizeof(float))));
}

int thread_entry() noexcept {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(&qkv_enter));
}

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

void qkv_serve(float* stack) {
  __wasm_init_tls(stack);
  qkv::wasm::serve(stack);
}
