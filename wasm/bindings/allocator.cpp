// What the module allocates with. Every address is compared with the memory before anybody uses it: below 4 GiB an address
// and a size may add up to more than 32 bits, and an allocator that adds them there hands out memory that is not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
void* emscripten_builtin_malloc(std::size_t bytes);
void* emscripten_builtin_memalign(std::size_t alignment, std::size_t bytes);
void emscripten_builtin_free(void* block);
}

namespace {

constexpr std::uint64_t kPageBytes = 65536;
/// One page less than 4 GiB, because the C library keeps the end of the memory in 32 bits.
constexpr std::uint64_t kMostBytes = 65535 * kPageBytes;
constexpr std::uint64_t kMostSpareBytes = 96 << 20;

/// Whether a memory of so many pages has all bytes of a block.
constexpr bool inside(std::uint64_t address, std::uint64_t bytes, std::uint64_t pages) noexcept {
  return address != 0 && address + bytes <= pages * kPageBytes;
}
static_assert(inside(0xFFFE'0000, 0x1'0000, 65535) && inside(0xFFFF'0000, 0x1'0000, 65536));
static_assert(!inside(0xFFFE'0000, 0x1'0001, 65535), "one byte beyond the end");
static_assert(!inside(0xFFFF'0000, 0x1'0001, 65536) && !inside(0xFF00'0000, 0x0200'0000, 65536),
              "the sum has more than 32 bits");
static_assert(!inside(0, 8, 65536), "nothing was had");

/// The block, or null, and given back, if it is not all there.
void* checked(void* block, std::size_t bytes) noexcept {
  if (inside(reinterpret_cast<std::uintptr_t>(block), bytes, __builtin_wasm_memory_size(0))) {
    return block;
  }
  emscripten_builtin_free(block);
  return nullptr;
}

}  // namespace

// In the place of those of the C library: operator new, the core and embind come by here. Nothing in the module calls
// realloc().
extern "C" {

void* malloc(std::size_t bytes) { return checked(emscripten_builtin_malloc(bytes), bytes); }

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  void* const block = __builtin_mul_overflow(count, size, &bytes) ? nullptr : malloc(bytes);
  return block ? std::memset(block, 0, bytes) : nullptr;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return checked(emscripten_builtin_memalign(alignment, bytes), bytes);
}

/// Makes the memory at least this large, for malloc(): a fifth more than there was, so that it seldom grows, or less of that
/// where the engine has not so much. Emscripten's own is JavaScript; its header says that it returns int or bool, by release.
int emscripten_resize_heap(std::size_t bytes) {
  const std::uint64_t had = __builtin_wasm_memory_size(0) * kPageBytes;
  if (bytes <= had || bytes > kMostBytes) {
    return 0;
  }
  for (const std::uint64_t part : {5U, 10U, 20U}) {
    const std::uint64_t roomy = std::min(had + had / part, bytes + kMostSpareBytes);
    const std::uint64_t wanted = std::min(std::max<std::uint64_t>(bytes, roomy), kMostBytes);
    const auto pages = static_cast<std::size_t>((wanted - had + kPageBytes - 1) / kPageBytes);
    if (__builtin_wasm_memory_grow(0, pages) != SIZE_MAX) {
      return 1;
    }
  }
  return 0;
}

}  // extern "C"
