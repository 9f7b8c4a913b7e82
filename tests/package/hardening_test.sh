#!/usr/bin/env bash
# That hardening.sh finds each thing it looks for: one program right, and the same program with one thing wrong at a time.
# usage: hardening_test.sh HARDENING.SH
set -euo pipefail
check=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
right=(-O2 -fstack-protector-all -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fPIE -pie -Wl,-z,relro,-z,now)
if [[ $(uname -m) == x86_64 ]]; then right+=(-fcf-protection=full); fi
cat >"$work/program.c" <<'END'
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
   char text[64];
   strcpy(text, words[count - 1]);
   printf("%s\n", text);
   return 0;
}
END
mkdir -p "$work/prefix/bin" "$work/open"
chmod 0777 "$work/open"

# expect WORDS [compiler option]...: what hardening.sh says of the program built so; no words: nothing
expect() {
  local words=$1 said
  shift
  gcc "${right[@]}" "$@" -o "$work/prefix/bin/program" "$work/program.c"
  said=$("$check" "$work/prefix" bin 2>&1) && said="accepted: $said"
  if [[ $said != *"$words"* ]]; then
    printf 'with %s: wanted "%s", got:\n%s\n' "$*" "$words" "$said" >&2
    exit 1
  fi
}

expect 'accepted: 1 files, 0 complaints'
expect 'accepted: 1 files, 0 complaints' '-Wl,-rpath,$ORIGIN/../lib/beside'
expect 'accepted: 1 files, 0 complaints' -Wl,-rpath,/usr/lib
expect 'an empty entry' -Wl,-rpath,/usr/lib:
expect 'an empty entry' -Wl,-rpath,:/usr/lib
expect 'an empty entry' -Wl,-rpath,/usr/lib::/lib
expect 'the relative entry lib' -Wl,-rpath,lib
expect "leaves $work/prefix" '-Wl,-rpath,$ORIGIN/../../lib/beside'
expect "others may write to $work/open" "-Wl,-rpath,$work/open"
expect "others may write to $work/open" "-Wl,-rpath,$work/open/not/there" -Wl,--disable-new-dtags
expect 'no RELRO' -Wl,-z,norelro
expect 'binds lazily' -Wl,-z,lazy
expect 'may be executed' -Wl,-z,execstack
expect 'fixed address' -no-pie -fno-pie
expect 'no stack protector' -fno-stack-protector
expect 'is checked' -U_FORTIFY_SOURCE
# Where the C library's start files have landing pads of their own, as Ubuntu's, their number tells nothing about such a small one.
if [[ $(uname -m) == x86_64 ]] && ! grep -q IBT < <(readelf -n "$(gcc -print-file-name=crt1.o)"); then expect 'landing pads' -fcf-protection=none; fi
