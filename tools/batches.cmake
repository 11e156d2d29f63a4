# Files are compiled a dozen at a time: most of what a compiler does for a small file is to read its headers. CMake's own
# UNITY_BUILD writes the path of the checkout into such a batch, and then a compiler cache serves no other checkout.
# A program that links the library takes whole batches along. So they are for who builds the tests, and for WebAssembly, which is
# linked once.
set(unity OFF)
if(QKV_BUILD_TESTS OR (PROJECT_IS_TOP_LEVEL AND EMSCRIPTEN))
  set(unity ON)
endif()
option(QKV_UNITY "Compile a dozen files at once, which takes half the time" ${unity})

# qkv_batches(<result> <name> <sources>...): the batches of these sources. A target that compiles them needs
# ${PROJECT_SOURCE_DIR} among its folders of headers.
function(qkv_batches result name)
  if(NOT QKV_UNITY)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(batches "")
  list(LENGTH ARGN count)
  math(EXPR last "(${count} - 1) / 12")
  foreach(number RANGE ${last})
    set(batch ${CMAKE_CURRENT_BINARY_DIR}/batches/${name}_${number}.cpp)
    math(EXPR begin "12 * ${number}")
    list(SUBLIST ARGN ${begin} 12 sources)
    set(lines "")
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(APPEND lines "#include \"${source}\"\n")
    endforeach()
    file(CONFIGURE OUTPUT ${batch} CONTENT "${lines}" @ONLY)
    list(APPEND batches ${batch})
  endforeach()
  set(${result} ${batches} PARENT_SCOPE)
endfunction()
