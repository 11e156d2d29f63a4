# cmake -D output=<file.cpp> -P embed.cmake <files>: C++ source that holds these text files by name
# (fixtures.hpp). As raw strings: a compiler reads them a hundred times faster than lists of bytes.
cmake_minimum_required(VERSION 3.25)

set(entries "")
foreach(index RANGE ${CMAKE_ARGC})
  set(argument "${CMAKE_ARGV${index}}")
  if(argument MATCHES "\\.json$")
    get_filename_component(name "${argument}" NAME_WE)
    if(argument MATCHES "/onnx/rules/")
      string(PREPEND name "onnx/")
    endif()
    file(READ "${argument}" text)
    string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endif()
endforeach()

file(
  WRITE "${output}"
  "// Made by tests/support/cpp/embed.cmake.
#include \"fixtures.hpp\"

namespace qkv::test {

const std::map<std::string, std::string_view>& fixtures() {
  static const std::map<std::string, std::string_view> files = {
${entries}  };
  return files;
}

}  // namespace qkv::test
")
