# rkb_add_fuzz(<name> [SOURCES <file>...] [LIBRARIES <target>...] [MAX_LENGTH <bytes>])
#
# With the fuzz preset (clang, libFuzzer, ASAN and UBSAN): builds fuzz_<name> from tests/fuzz/fuzz_<name>.c, or from SOURCES, and
# adds a test that runs it once over tests/fuzz/corpus/<name>/.  A crash that was found becomes a file of that corpus.
# To search for new ones:
#
#    build-fuzz/tests/<area>/fuzz_<name> -max_total_time=60 FOLDER_FOR_NEW_INPUTS tests/fuzz/corpus/<name>
#
# In every other build it does nothing.
include_guard(GLOBAL)

option(RKB_FUZZ "Build the fuzz targets (needs clang; see the fuzz preset)" OFF)
# What core/CMakeLists.txt calls busy is then compiled for speed: optimised, and without the counters that lead the search for inputs.
option(RKB_FUZZED_TESTS "The build with fuzz targets runs the tests too" OFF)

function(rkb_add_fuzz name)
  if(NOT RKB_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAX_LENGTH" "SOURCES;LIBRARIES")
  if(NOT arg_SOURCES)
    set(arg_SOURCES "${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_${name}.c")
  endif()
  if(NOT arg_MAX_LENGTH)
    set(arg_MAX_LENGTH 65536)
  endif()
  set(corpus "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  if(NOT EXISTS "${corpus}")
    message(FATAL_ERROR "rkb_add_fuzz(${name}): there is no corpus ${corpus}; start it with a valid input")
  endif()
  add_executable(fuzz_${name} ${arg_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE ${arg_LIBRARIES})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME fuzz_${name} COMMAND fuzz_${name} -runs=0 -max_len=${arg_MAX_LENGTH} "${corpus}")
  set_tests_properties(fuzz_${name} PROPERTIES TIMEOUT 600)
endfunction()
