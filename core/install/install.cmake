# What `cmake --install` puts where, and what a stranger's build finds it by: a package for CMake and a
# file for pkg-config. Neither holds an absolute path, so the whole prefix may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/qkv DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(
  TARGETS ${libraries}
  EXPORT qkv-targets
  INCLUDES
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/qkv)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/qkv)
install(
  EXPORT qkv-targets
  NAMESPACE qkv::
  DESTINATION ${package_dir})
configure_package_config_file(install/qkv-config.cmake.in qkv-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Below 1.0 a minor version may break what was; from there on only a major one.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(qkv-config-version.cmake COMPATIBILITY ${compatibility})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/qkv-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/qkv-config-version.cmake DESTINATION ${package_dir})

# pkg-config knows where the file itself is, and the prefix from there; a libdir outside of the prefix
# does not move with it.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  set(up /)
  cmake_path(RELATIVE_PATH up BASE_DIRECTORY "/${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  set(pc_prefix "\${pcfiledir}/${up}")
endif()
set(pc_libdir "\${prefix}")
cmake_path(APPEND pc_libdir "${CMAKE_INSTALL_LIBDIR}")
set(pc_includedir "\${prefix}")
cmake_path(APPEND pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(name IN LISTS libraries)
  configure_file(install/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
