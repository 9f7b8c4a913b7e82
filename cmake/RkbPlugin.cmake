# rkb_add_plugin(<name> KIND <kind> SOURCES <file>... [LIBRARIES <target>...])
#
# Builds the loadable module <kind>/<name>.so.  Works the same in this tree and, through
# find_package(rkb), outside it.
include_guard(GLOBAL)
include(GNUInstallDirs)

set(RKB_PLUGIN_INSTALL_DIR "${CMAKE_INSTALL_LIBDIR}/rkb/plugins")

function(rkb_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND" "SOURCES;LIBRARIES")
  if(NOT arg_KIND MATCHES "^(translator|verifier|mutator|profiler|strategy)$")
    message(FATAL_ERROR "rkb_add_plugin(${name}): KIND must be translator, verifier, mutator, profiler or strategy")
  endif()
  set(target rkb_${arg_KIND}_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE rkb::plugin ${arg_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name}
    C_STANDARD 11 C_STANDARD_REQUIRED ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/plugins/${arg_KIND}")
  # Export the entry and nothing else, stay mapped until exit (dlclose with a pending callback
  # crashes), and fail the link, not the load, when a symbol is missing.  The sanitizers' runtimes
  # live in the executable, so -z defs is off there; so it is where jansson lives there too.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
  if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=" AND NOT RKB_STATIC_LIBRARIES)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION "${RKB_PLUGIN_INSTALL_DIR}/${arg_KIND}")
  if(COMMAND rkb_look_beside) # in rkb's own tree
    rkb_look_beside(${target} DESTINATION "${RKB_PLUGIN_INSTALL_DIR}/${arg_KIND}")
  endif()
endfunction()
