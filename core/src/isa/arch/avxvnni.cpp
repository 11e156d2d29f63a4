// AVX2 with AVX-VNNI: avx2, and vpdpbusd for bytes. Only what bytes need is compiled here.
#include "isa/arch/avx2.hpp"
#include "kernels/product/byte_formats.hpp"

namespace qkv::kernels {

struct AvxVnni : Avx2 {
  static constexpr const char* kName = "avxvnni";
  static constexpr ByteDot kByteDot = ByteDot::kDpbusd;
};

const KernelTable* avx2_kernels() noexcept;

const KernelTable* avxvnni_kernels() noexcept {
  static const KernelTable table = with_bytes_of<AvxVnni>(*avx2_kernels());
  return &table;
}

}  // namespace qkv::kernels
