// Threads, which share the work of every call. JavaScript starts workers; each makes a second instance of the module on the
// same memory and enters it here. Of modules whose memory is not shared nobody calls these functions.
#pragma once

#include "qkv/parallel.hpp"
#include "qkv/status.hpp"

namespace qkv::wasm {

/// Makes the pool of `threads`, the caller included, and stacks for the others. `may_sleep` says that the
/// caller may: a page's main thread may not. False without room for the stacks.
[[nodiscard]] bool create_threads(int threads, bool may_sleep) noexcept;

/// Works for the pool, as the worker with this stack.
void serve(float* stack) noexcept;
/// Where the entry of a worker is in the function table: void(stack, bytes). It calls serve().
[[nodiscard]] int thread_entry() noexcept;
/// Stack of worker [0, threads - 1), kStackBytes large.
[[nodiscard]] void* thread_stack(int worker) noexcept;
inline constexpr int kStackBytes = 64 * 1024;

/// Says that this worker has ended and will never run again, so that a call that waits for it returns and
/// fails with kThreadLost. Whoever knows it must call from a thread that still runs, on any instance of the
/// module with this memory, because the thread that called the operator is blocked inside WebAssembly and
/// cannot get the worker's `error`, `exit` or `close` event before the call returns:
/// - thread.ts, when its entry throws (a trap, a stack overflow): in a `catch` around the entry, with the
///   number of its own worker, before it closes. Its instance has no embind, so it finds this function
///   through abandon_entry(). Nothing of its task runs after that.
/// - for a worker that is ended from outside (terminate(), the system): any other thread whose event loop is
///   free and that sees the worker's Web Lock become free, or its MessagePort close. Without such a thread
///   nobody in the process can tell an ended worker from a slow one, and the caller waits.
/// - the caller itself between calls, from the worker's `error` or `exit` event.
/// The worker must be dead for certain: if it still writes, it writes to memory that was given back.
void abandon_thread(int worker) noexcept;
/// Where abandon_thread() is in the function table: void(worker).
[[nodiscard]] int abandon_entry() noexcept;

/// `status`, or kThreadLost if the call that it is of was ok but lost a task to abandon_thread().
[[nodiscard]] Status check_threads(const Status& status) noexcept;

/// Sends the workers home.
void stop_threads() noexcept;

}  // namespace qkv::wasm
