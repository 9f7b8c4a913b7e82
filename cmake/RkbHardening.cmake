# What every program, plugin and library of this tree is built with against an attacker who found an error in it, and where its
# loader may look for libraries.  tests/package/hardening.sh reads the result back from the files.
include_guard(GLOBAL)
include(CheckPIESupported)
check_pie_supported()

# No run path in the build tree: where an installed one is shorter, CMake fills it up with an empty entry, and the loader reads an
# empty entry as the current directory.  Libraries outside the loader's own folders are named to it by ld.so.conf or LD_LIBRARY_PATH.
set(CMAKE_SKIP_BUILD_RPATH ON)

# The sanitizers check more than these do, and nobody attacks a build with them.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
  add_compile_options(-fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options(-fcf-protection=full) # CET: enforced where the C library's start files have it too
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    add_compile_options(-mbranch-protection=standard)
  endif()
  # Without an optimiser it does nothing but warn.
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
endif()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code)
# A library that a program uses nothing of is not loaded into it: rkb-compiler needs none of what the rooms it links may use.
add_link_options(-Wl,--as-needed)

# Where a bundle keeps the libraries that it takes along, seen from the installation's prefix; none when empty.
set(RKB_LIBRARIES_BESIDE "" CACHE STRING "Folder under the prefix in which installed programs and plugins look for libraries")

# rkb_look_beside(<target>... DESTINATION <folder under the prefix>): the one run path that an installed file may have, and it never
# leaves the prefix: whoever can write to the folder above must not choose what runs.
function(rkb_look_beside)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "DESTINATION" "")
  if(RKB_LIBRARIES_BESIDE STREQUAL "")
    return()
  endif()
  file(RELATIVE_PATH up "/prefix/${arg_DESTINATION}" "/prefix/${RKB_LIBRARIES_BESIDE}")
  set_target_properties(${arg_UNPARSED_ARGUMENTS} PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
  # The old kind of run path: it also holds for what the libraries beside load themselves.
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  endforeach()
endfunction()
