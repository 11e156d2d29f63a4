# What finds undefined behaviour and races. Nothing is recovered from and nothing is left out: the first report
# ends the program.
#
# qkv_address_sanitizers: ASan (with LeakSanitizer) and UBSan, the checks of floats and of narrowing included.
# Dividing by 0.0F is not undefined in IEEE arithmetic, and where a row has no keys it is meant.
#
# QKV_SANITIZE adds them (address) or TSan (thread) to everything that is compiled here, Catch2 included.
# Without it the core alone is built with the first of them beside the ordinary one, as qkv_sanitized (core/CMakeLists.txt).

set(qkv_stop -fno-sanitize-recover=all -fno-omit-frame-pointer)
set(qkv_address_sanitizers -fsanitize=address,undefined,float-cast-overflow ${qkv_stop})
# Of the standard library: an index or iterator past the end of a vector.
set(qkv_hardened
    $<IF:$<BOOL:${EMSCRIPTEN}>,_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE,_GLIBCXX_ASSERTIONS>)

if(QKV_SANITIZE)
  if(QKV_SANITIZE STREQUAL "thread")
    set(qkv_sanitizers -fsanitize=thread ${qkv_stop})
  else()
    set(qkv_sanitizers ${qkv_address_sanitizers})
  endif()
  add_compile_options(${qkv_sanitizers})
  add_link_options(${qkv_sanitizers})
  add_compile_definitions(${qkv_hardened})
endif()
