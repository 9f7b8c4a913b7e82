# What a plugin's author gets from an installation: the public headers, find_package(rkb), pkg-config rkb-plugin, and what
# plugins share (RkbShared.cmake).
# All of it finds itself by its own place, so that an installed tree can be moved.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/rkb")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH RKB_PREFIX_FROM_PKGCONFIG "/${pkgconfig_dir}" "/")
string(REGEX REPLACE "/$" "" RKB_PREFIX_FROM_PKGCONFIG "${RKB_PREFIX_FROM_PKGCONFIG}")

install(TARGETS rkb_plugin_interface EXPORT rkb-targets)
install(EXPORT rkb-targets NAMESPACE rkb:: DESTINATION "${package_dir}")
install(EXPORT rkb-shared-targets NAMESPACE rkb:: DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/include/rkb" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/rkb-config.cmake.in" "${PROJECT_BINARY_DIR}/rkb-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/rkb-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/rkb-config.cmake" "${PROJECT_BINARY_DIR}/rkb-config-version.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/RkbPlugin.cmake" DESTINATION "${package_dir}")

configure_file("${PROJECT_SOURCE_DIR}/cmake/rkb-plugin.pc.in" "${PROJECT_BINARY_DIR}/rkb-plugin.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/rkb-plugin.pc" DESTINATION "${pkgconfig_dir}")

# Data that the programs look up with rkb_find_data.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/devices" "${PROJECT_SOURCE_DIR}/pipelines" DESTINATION share/rkb
  FILES_MATCHING PATTERN "*.yaml" PATTERN "*.md") # pipelines name their prompts
