// The threads of the shared-memory builds, which share the work of every call. JavaScript starts workers;
// each makes a second instance of the module on the same memory and enters it here. The other builds have
// the same functions, so that one glue serves all, and no threads.
#pragma once

#include "qkv/parallel.hpp"

namespace qkv::wasm {

/// Makes the pool of `threads`, the caller included, and stacks for the others. `may_sleep` says that the
/// caller may: a page's main thread may not. False without shared memory, or room for the stacks.
[[nodiscard]] bool create_threads(int threads, bool may_sleep) noexcept;

/// Where the entry of a worker is in the function table: void(stack, bytes).
[[nodiscard]] int thread_entry() noexcept;
/// Stack of worker [0, threads - 1), kStackBytes large.
[[nodiscard]] void* thread_stack(int worker) noexcept;
inline constexpr int kStackBytes = 64 * 1024;

/// Sends the workers home.
void stop_threads() noexcept;

}  // namespace qkv::wasm
