// The instruction set of a module with kernels, as they say it. A module without kernels says it itself.
#include "support.hpp"

namespace qkv::wasm {

const char* isa() noexcept { return active_isa(); }

}  // namespace qkv::wasm
