// How many threads a test of any suite can start.
#pragma once

namespace qkv::test {

/// The caller included. The suites that are built to WebAssembly have no threads; tests/package/threads has those of the package.
#if defined(__wasm__)
inline constexpr int kThreads = 1;
#else
inline constexpr int kThreads = 3;
#endif

}  // namespace qkv::test
