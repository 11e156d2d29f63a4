// AVX-512 with VNNI: avx512, and vpdpbusd for bytes. Only what bytes need is compiled here.
#include "isa/arch/avx512.hpp"
#include "kernels/product/byte_formats.hpp"

namespace qkv::kernels {

struct Avx512Vnni : Avx512 {
  static constexpr const char* kName = "avx512vnni";
  static constexpr ByteDot kByteDot = ByteDot::kDpbusd;
};

const KernelTable* avx512_kernels() noexcept;

const KernelTable* avx512vnni_kernels() noexcept {
  static const KernelTable table = with_bytes_of<Avx512Vnni>(*avx512_kernels());
  return &table;
}

}  // namespace qkv::kernels
