# Reads .toolchain/env, which tools/bootstrap writes, so that a plain `cmake --preset native` finds the
# same compiler and headers as `npm run build`. What is set on the command line or in the environment
# goes first. Included before project(), because the compiler cannot change after it. A project that
# has this one as a part chooses the compiler itself.
set(env_file "${CMAKE_CURRENT_SOURCE_DIR}/.toolchain/env")
if(EXISTS "${env_file}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${env_file}")
  file(STRINGS "${env_file}" lines)
  foreach(line IN LISTS lines)
    if(line MATCHES "^(XSIMD_INCLUDE_DIR|EIGEN_INCLUDE_DIR|JSON_INCLUDE_DIR|CATCH2_SOURCE_DIR)=(.+)$")
      if(NOT DEFINED ${CMAKE_MATCH_1})
        set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
      endif()
    elseif(line MATCHES "^CXX=(.+)$")
      if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR
         AND NOT DEFINED CMAKE_CXX_COMPILER
         AND NOT DEFINED CMAKE_TOOLCHAIN_FILE
         AND NOT DEFINED ENV{CXX})
        set(CMAKE_CXX_COMPILER "${CMAKE_MATCH_1}")
      endif()
    endif()
  endforeach()
endif()
