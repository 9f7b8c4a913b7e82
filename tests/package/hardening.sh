#!/usr/bin/env bash
# Reads programs and shared objects and says what an attacker would like about them: a run path with an empty, relative or
# writable entry, a table of functions that stays writable, a program at a fixed address, no stack protector, unchecked calls of
# the C library.  usage: hardening.sh PREFIX FOLDER...   (folders under the prefix; exits 1 when there is anything)
set -euo pipefail
prefix=$(realpath "$1")
shift
complaints=0
files=0

complain() {
  printf '%s: %s\n' "$1" "$2" >&2
  complaints=$((complaints + 1))
}

# Whether somebody but root and the caller may write to a folder that exists.
others_write() {
  local owner mode
  [[ -d $1 ]] || return 1
  owner=$(stat -Lc %u "$1")
  mode=$(stat -Lc %a "$1")
  [[ ($owner != 0 && $owner != "$(id -u)") || $((0$mode & 022)) != 0 ]]
}

# A run path entry is absolute, or starts at the file's own folder and stays under the prefix.
check_entry() {
  local file=$1 entry=$2 folder
  case $entry in
    '') complain "$file" 'an empty entry in the run path: the loader takes it for the current directory' ;;
    '$ORIGIN' | '$ORIGIN/'*)
      folder=$(realpath -m "$(dirname "$file")/${entry#\$ORIGIN}")
      if [[ $folder/ != "$prefix"/* ]]; then complain "$file" "the run path $entry leaves $prefix"; fi
      ;;
    /*)
      folder=$(realpath -m "$entry")
      while true; do
        if others_write "$folder"; then complain "$file" "others may write to $folder, of the run path $entry"; fi
        [[ $folder != / ]] || break
        folder=$(dirname "$folder")
      done
      ;;
    *) complain "$file" "the relative entry $entry in the run path" ;;
  esac
}

check_run_path() {
  local file=$1 dynamic=$2 path entry
  while IFS= read -r path; do
    path=$path: # a last empty entry counts too
    while [[ -n $path ]]; do
      entry=${path%%:*}
      path=${path#*:}
      check_entry "$file" "$entry"
    done
  done < <(sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]$/\2/p' <<<"$dynamic")
  # "NEEDED ./x.so" is opened as it is written, whatever the run path says.
  if grep -qE '\(NEEDED\).*\[[^]]*/' <<<"$dynamic"; then complain "$file" 'names a library by a path'; fi
}

# check_file FILE program|object
check_file() {
  local file=$1 kind=$2 header dynamic segments symbols pads
  header=$(readelf -hW "$file")
  dynamic=$(readelf -dW "$file")
  segments=$(readelf -lW "$file")
  symbols=$(readelf -sW --dyn-syms "$file")
  check_run_path "$file" "$dynamic"
  grep -qE 'Type: +DYN' <<<"$header" || complain "$file" 'lies at a fixed address: build it with -pie'
  grep -qE '\(TEXTREL\)' <<<"$dynamic" && complain "$file" 'has relocations in its code'
  grep -qE 'GNU_RELRO' <<<"$segments" || complain "$file" 'no RELRO segment'
  grep -qE '\(FLAGS(_1)?\).*\b(BIND_)?NOW\b' <<<"$dynamic" || complain "$file" 'binds lazily: its table of functions stays writable'
  grep -qE 'GNU_STACK.* RW +0x' <<<"$segments" || complain "$file" 'its stack may be executed'
  grep -qE 'LOAD.* RWE ' <<<"$segments" && complain "$file" 'a segment is both written and executed'
  if [[ $kind == program ]]; then
    grep -q '__stack_chk_fail' <<<"$symbols" || complain "$file" 'no stack protector'
    grep -qE '__[a-z]+_chk@' <<<"$symbols" || complain "$file" 'no call of the C library is checked: build it with _FORTIFY_SOURCE=3'
  fi
  if grep -q 'X86-64' <<<"$header"; then
    # Not the property note: the linker leaves it out where the C library's own start files are without, as Debian's are.  Those
    # of the compiler hold two landing pads, whatever the program was built with.
    pads=$(LC_ALL=C grep -oaP '\xf3\x0f\x1e\xfa' "$file" | wc -l || true)
    [[ $pads -gt 2 ]] || complain "$file" 'no landing pads for indirect calls: build it with -fcf-protection'
  fi
}

for folder in "$@"; do
  while IFS= read -r file; do
    [[ $(head -c 4 "$file" | od -An -tx1) == ' 7f 45 4c 46' ]] || continue
    if grep -qE 'Type: +REL' < <(readelf -hW "$file"); then continue; fi # on its way to a program
    files=$((files + 1))
    if grep -q INTERP < <(readelf -lW "$file"); then check_file "$file" program; else check_file "$file" object; fi
  done < <(find "$prefix/$folder" -type f | sort)
done
printf '%s files, %s complaints\n' "$files" "$complaints"
[[ $files -gt 0 && $complaints == 0 ]]
