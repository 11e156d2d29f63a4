# What QKV_SANITIZE adds to everything that is compiled here, Catch2 included: a container that half of a
# program watches over is reported where nothing is wrong.
#
#   address   ASan (with LeakSanitizer) and UBSan, the checks of floats and of narrowing included (ON: the same)
#   thread    TSan
#
# Nothing is recovered from and nothing is left out: the first report ends the program.

if(QKV_SANITIZE STREQUAL "thread")
  set(qkv_sanitizers -fsanitize=thread)
else()
  # Dividing by 0.0F is not undefined in IEEE arithmetic, and where a row has no keys it is meant.
  set(qkv_sanitizers -fsanitize=address,undefined,float-cast-overflow)
endif()
if(QKV_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link) # counts which branches an input takes
endif()
add_compile_options(${qkv_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
add_link_options(${qkv_sanitizers})
# Of the standard library: an index or iterator past the end of a vector.
add_compile_definitions(
  $<IF:$<BOOL:${EMSCRIPTEN}>,_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE,_GLIBCXX_ASSERTIONS>)
