# rkb_add_test(<name> SOURCES <file>... [LIBRARIES <target>...] [TIMEOUT <seconds>])
#
# One cmocka program, one process, one time limit.  Only for tests inside this tree.
include_guard(GLOBAL)
# GNU ld takes five times as long as this one for each of two hundred programs.
find_program(RKB_LLD ld.lld DOC "The linker of LLVM, which links the tests where it is installed")

# What several tests of one room share, `<name>_harness.c` or `<name>_fixture.c`, is compiled once, with the libraries of the first test that names it.
# sources: the name of a list, whose entries of that kind become the objects that were compiled.
function(rkb_share_test_sources sources)
  set(result "")
  foreach(source IN LISTS ${sources})
    get_filename_component(part "${source}" NAME_WE)
    if(part MATCHES "_(harness|fixture)$")
      if(NOT TARGET test_part_${part})
        add_library(test_part_${part} OBJECT "${source}")
        rkb_compile_as_test(test_part_${part} ${ARGN})
      endif()
      set(source "$<TARGET_OBJECTS:test_part_${part}>")
    endif()
    list(APPEND result "${source}")
  endforeach()
  set(${sources} "${result}" PARENT_SCOPE)
endfunction()

# rkb_compile_as_test(<target> <library>...)
function(rkb_compile_as_test target)
  target_link_libraries(${target} PRIVATE ${ARGN} PkgConfig::CMOCKA)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests") # check.h
  # A release build compiles the test's own files without the optimiser, in half the time: what runs long is in the libraries.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
    target_compile_options(${target} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
  target_compile_definitions(${target} PRIVATE
    RKB_SOURCE_DIR="${PROJECT_SOURCE_DIR}" RKB_BINARY_DIR="${PROJECT_BINARY_DIR}")
endfunction()

function(rkb_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBRARIES")
  if(NOT TARGET PkgConfig::CMOCKA)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET GLOBAL cmocka)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1800) # ends a hang; no test is judged by its time
  endif()
  rkb_share_test_sources(arg_SOURCES ${arg_LIBRARIES})
  add_executable(test_${name} ${arg_SOURCES})
  rkb_compile_as_test(test_${name} ${arg_LIBRARIES})
  if(RKB_LLD)
    target_link_options(test_${name} PRIVATE -fuse-ld=lld)
  endif()
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
