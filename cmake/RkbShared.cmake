# rkb_add_shared(<name> SOURCES <file>... [LIBRARIES <target>...])
#
# plugins/shared/<name>/: what plugins of different kinds share, as a static library that each of them links, so that each loads on
# its own.  In this tree the target is rkb_plugin_<name>; outside it, through find_package(rkb COMPONENTS shared), it is
# rkb::plugin_<name>.  Headers are included as "<name>/file.h" in both.
include_guard(GLOBAL)
include(GNUInstallDirs)

set(RKB_SHARED_INCLUDE_DIR "${CMAKE_INSTALL_INCLUDEDIR}/rkb/shared")

function(rkb_add_shared name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  set(target rkb_plugin_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/..> $<INSTALL_INTERFACE:${RKB_SHARED_INCLUDE_DIR}>)
  target_link_libraries(${target} PUBLIC rkb::plugin ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden EXPORT_NAME plugin_${name})
  install(TARGETS ${target} EXPORT rkb-shared-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/rkb")
  install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" DESTINATION "${RKB_SHARED_INCLUDE_DIR}" FILES_MATCHING PATTERN "*.h")
endfunction()
