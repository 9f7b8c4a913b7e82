# rkb_add_test(<name> SOURCES <file>... [LIBRARIES <target>...] [TIMEOUT <seconds>])
#
# One cmocka program, one process, one time limit.  Only for tests inside this tree.
include_guard(GLOBAL)
# GNU ld takes five times as long as this one for each of two hundred programs.
find_program(RKB_LLD ld.lld DOC "The linker of LLVM, which links the tests where it is installed")

function(rkb_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBRARIES")
  if(NOT TARGET PkgConfig::CMOCKA)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET GLOBAL cmocka)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1800) # ends a hang; no test is judged by its time
  endif()
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${arg_LIBRARIES} PkgConfig::CMOCKA)
  target_include_directories(test_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests") # check.h
  # A release build compiles the test's own files without the optimiser, in half the time: what runs long is in the libraries.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
    target_compile_options(test_${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
  if(RKB_LLD)
    target_link_options(test_${name} PRIVATE -fuse-ld=lld)
  endif()
  target_compile_definitions(test_${name} PRIVATE
    RKB_SOURCE_DIR="${PROJECT_SOURCE_DIR}" RKB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
