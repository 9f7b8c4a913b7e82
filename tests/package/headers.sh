#!/usr/bin/env bash
# Every public header, alone, without a warning, in each language a plugin may be written in.
# usage: headers.sh SOURCE_DIRECTORY
set -euo pipefail
source_directory=$1
checked=0

# check COMPILER LANGUAGE STANDARD HEADER
check() {
  printf '#include <%s>\n#include <%s>\n' "$4" "$4" |
    "$1" -x "$2" "-std=$3" -Wall -Wextra -Werror -I"$source_directory/core/include" -fsyntax-only - ||
    { echo "$4 does not compile with $1 as $3" >&2; exit 1; }
  checked=$((checked + 1))
}

for pair in gcc:g++ clang:clang++; do
  if ! command -v "${pair%:*}" >/dev/null; then
    echo "${pair%:*} is not installed" >&2
    exit 1
  fi
  while read -r header; do
    for standard in c11 c17; do check "${pair%:*}" c "$standard" "$header"; done
    for standard in c++11 c++17; do check "${pair#*:}" c++ "$standard" "$header"; done
  done < <(cd "$source_directory/core/include" && find rkb -name '*.h' | sort)
done
echo "$checked combinations of header, compiler and standard compile"
