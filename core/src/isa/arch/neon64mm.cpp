// NEON with the dot product and i8mm extensions: neon64, and sdot and smmla for bytes. Only what bytes need is compiled here.
#include "isa/arch/neon64.hpp"
#include "kernels/product/byte_formats.hpp"

namespace qkv::kernels {

struct Neon64Mm : Neon64 {
  static constexpr const char* kName = "neon64mm";
  static constexpr ByteDot kByteDot = ByteDot::kSmmla;
};

const KernelTable* neon64_kernels() noexcept;

const KernelTable* neon64mm_kernels() noexcept {
  static const KernelTable table = with_bytes_of<Neon64Mm>(*neon64_kernels());
  return &table;
}

}  // namespace qkv::kernels
