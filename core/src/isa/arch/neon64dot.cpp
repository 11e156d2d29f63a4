// NEON with the dot product extension: neon64, and sdot for bytes. Only what bytes need is compiled here.
#include "isa/arch/neon64.hpp"
#include "kernels/product/byte_formats.hpp"

namespace qkv::kernels {

struct Neon64Dot : Neon64 {
  static constexpr const char* kName = "neon64dot";
  static constexpr ByteDot kByteDot = ByteDot::kSdot;
};

const KernelTable* neon64_kernels() noexcept;

const KernelTable* neon64dot_kernels() noexcept {
  static const KernelTable table = with_bytes_of<Neon64Dot>(*neon64_kernels());
  return &table;
}

}  // namespace qkv::kernels
