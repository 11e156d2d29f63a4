# xsimd, Eigen, nlohmann-json and Catch2. A folder named by XSIMD_INCLUDE_DIR, EIGEN_INCLUDE_DIR,
# JSON_INCLUDE_DIR or CATCH2_SOURCE_DIR goes first (tools/bootstrap writes them down), then an installed
# package, then the pinned release below, fetched and checked by hash. Catch2 is compiled for
# WebAssembly too, so sources serve both.
include(FetchContent)

# qkv_fetch(<result> <package> <url> <hash> <variable>): where FetchContent gets the archive from. It is downloaded here, because of a
# download of its own that fails FetchContent prints a log and nothing that helps. A project around this one that has declared the
# package, or named a folder for it, has the first word.
function(qkv_fetch result package url hash variable)
  set(${result} ${url} PARENT_SCOPE)
  string(TOUPPER ${package} upper)
  string(TOLOWER ${package} lower)
  get_property(declared GLOBAL PROPERTY _FetchContent_${lower}_savedDetails DEFINED)
  if(declared OR FETCHCONTENT_SOURCE_DIR_${upper} OR FETCHCONTENT_FULLY_DISCONNECTED)
    return()
  endif()
  message(STATUS "qkv: no installed ${package} is new enough and ${variable} names no folder, so it is fetched from ${url}")
  get_filename_component(name ${url} NAME)
  set(archive ${CMAKE_BINARY_DIR}/_deps/${lower}-${name})
  set(found "")
  if(EXISTS ${archive})
    file(SHA256 ${archive} found)
  endif()
  if(NOT found STREQUAL hash)
    file(DOWNLOAD ${url} ${archive} STATUS status INACTIVITY_TIMEOUT 30)
    list(GET status 0 code)
    list(GET status 1 problem)
    file(SHA256 ${archive} found)
    if(NOT found STREQUAL hash)
      file(REMOVE ${archive})
      if(code EQUAL 0)
        set(problem "its SHA256 is ${found}")
      endif()
      message(FATAL_ERROR "qkv: ${package} could not be fetched from ${url} (${problem}). "
                          "Install it, or configure with -D${variable}=<its folder>.")
    endif()
  endif()
  set(${result} ${archive} PARENT_SCOPE)
endfunction()

# Makes `target` from a header folder, an installed package of one of these versions or newer, or a pinned archive, unless a project that
# has this one as a part brought it. Headers only: none of the archive's own build is run. The target
# is known to this project's folders alone, so that a project around it may have one of that name.
function(qkv_header_dependency target package versions variable url hash subdirectory)
  if(TARGET ${target})
    return()
  endif()
  set(directory "${${variable}}")
  if(NOT directory)
    foreach(one IN LISTS versions) # a package of another major version than the one that is requested is not found
      find_package(${package} ${one} QUIET)
      if(${package}_FOUND)
        return()
      endif()
    endforeach()
    qkv_fetch(archive ${package} ${url} ${hash} ${variable})
    FetchContent_Declare(
      ${package}
      URL ${archive}
      URL_HASH SHA256=${hash}
      DOWNLOAD_EXTRACT_TIMESTAMP ON
      SOURCE_SUBDIR headers-only)
    FetchContent_MakeAvailable(${package})
    if(TARGET ${target}) # of a project around this one that declared the same package
      return()
    endif()
    string(TOLOWER ${package} lower)
    set(directory "${${lower}_SOURCE_DIR}/${subdirectory}")
  endif()
  if(NOT IS_DIRECTORY "${directory}")
    list(GET versions 0 version)
    message(FATAL_ERROR "qkv: the headers of ${package} >= ${version} are not in \"${directory}\": "
                        "install them, or let ${variable} name the folder they are in.")
  endif()
  add_library(${target} INTERFACE IMPORTED)
  target_include_directories(${target} SYSTEM INTERFACE "${directory}")
endfunction()

qkv_header_dependency(
  xsimd xsimd "13;14" XSIMD_INCLUDE_DIR
  https://github.com/xtensor-stack/xsimd/archive/13.2.0.tar.gz
  edd8cd3d548c185adc70321c53c36df41abe64c1fe2c67bc6d93c3ecda82447a include)

if(QKV_BUILD_TESTS OR QKV_SPECTRA)
  qkv_header_dependency(
    Eigen3::Eigen Eigen3 "3.4;5" EIGEN_INCLUDE_DIR
    https://gitlab.com/libeigen/eigen/-/archive/3.4.0/eigen-3.4.0.tar.bz2
    b4c198460eba6f28d34894e3a5710998818515104d6e74e5cc331ce31e46e626 "")
endif()

if(QKV_BUILD_TESTS)
  qkv_header_dependency(
    nlohmann_json::nlohmann_json nlohmann_json 3.9 JSON_INCLUDE_DIR
    https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
    d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d include)

  if(CATCH2_SOURCE_DIR)
    set(FETCHCONTENT_SOURCE_DIR_CATCH2 "${CATCH2_SOURCE_DIR}")
  elseif(NOT EMSCRIPTEN)
    find_package(Catch2 3.4 QUIET)
  endif()
  if(NOT TARGET Catch2::Catch2WithMain)
    set(hash 485932259a75c7c6b72d4b874242c489ea5155d17efa345eb8cc72159f49f356)
    qkv_fetch(archive Catch2 https://github.com/catchorg/Catch2/archive/v3.6.0.tar.gz ${hash} CATCH2_SOURCE_DIR)
    FetchContent_Declare(
      Catch2
      URL ${archive}
      URL_HASH SHA256=${hash}
      DOWNLOAD_EXTRACT_TIMESTAMP ON)
    set(CATCH_CONFIG_NO_POSIX_SIGNALS ${EMSCRIPTEN})
    FetchContent_MakeAvailable(Catch2)
    if(EMSCRIPTEN)
      # Its own alone: a module is compiled by the same commands with and without the tests.
      foreach(target Catch2 Catch2WithMain)
        target_compile_options(${target} PRIVATE -fwasm-exceptions)
      endforeach()
    endif()
    # A hundred small files that all read the same headers, and no kernels among them: compiled together
    # and not optimised they take a third of the time, and tests take no longer.
    set_target_properties(Catch2 PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 26)
    target_compile_options(Catch2 PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O0>)
  endif()
endif()
