# Linux on arm64, compiled on another machine by clang and run there by qemu-user: the preset native-arm64. The libraries are those of
# g++-aarch64-linux-gnu. Programs are linked statically, so that qemu needs no other file of arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
find_program(QKV_CLANG NAMES clang++-19 clang++ NO_CMAKE_FIND_ROOT_PATH)
find_program(QKV_QEMU NAMES qemu-aarch64-static qemu-aarch64 NO_CMAKE_FIND_ROOT_PATH)
find_program(QKV_ARM64_LIBRARIES aarch64-linux-gnu-g++ NO_CMAKE_FIND_ROOT_PATH)
if(NOT QKV_CLANG OR NOT QKV_QEMU OR NOT QKV_ARM64_LIBRARIES)
  message(FATAL_ERROR "qkv: the preset native-arm64 needs clang++, aarch64-linux-gnu-g++ and qemu-aarch64, on Debian "
                      "the packages clang-19, g++-aarch64-linux-gnu and qemu-user-static.")
endif()
set(CMAKE_CXX_COMPILER ${QKV_CLANG})
set(CMAKE_CROSSCOMPILING_EMULATOR ${QKV_QEMU})
