// Every operator of the raw module: reads its arguments from the descriptor, calls the core.
#pragma once

#include "descriptor.hpp"
#include "qkv/status.hpp"

namespace qkv::wasm {

#define QKV_OPERATOR(name) Status name(Descriptor& d) noexcept;
#include "operators.def"
#undef QKV_OPERATOR

}  // namespace qkv::wasm
