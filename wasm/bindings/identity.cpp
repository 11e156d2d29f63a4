// Read by the loader before anything is instantiated: a file of another version, build or schema is refused by name, and
// not run. `<name of the files> <version> <simd or relaxed> <hash of the schema> <shared or single>`. The last word is about the
// memory: the linker makes modules of shared memory, and tools/build/modules.js the others from them.
#include "abi.hpp"

__asm__(".section .custom_section.qkv,\"\",@\n.ascii \"" QKV_MODULE " " QKV_VERSION
        " " QKV_MODULE_KIND " " QKV_ABI_HASH " shared\"\n");
