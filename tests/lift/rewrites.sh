#!/usr/bin/env bash
# rewrites.txt has one case a line: KERNEL REWRITE holds [TUNE...], or KERNEL REWRITE refused MESSAGE.  KERNEL is a file below tasks/ or of
# tests/lift/kernels; KERNEL~EDIT is that file after an edit by sed, which must change it.  What holds must give the same text twice and a kernel that `rkb check` accepts, with the tune values named.
# Without RKB_LONG in the environment the first case of each rewrite and every third after it is checked (../thin.sh); the others are written.
# usage: rewrites.sh SOURCE BUILD [PATTERN [written]]   written: what is written is not checked
set -f # messages have asterisks
source=$1 build=$2 pattern=${3:-.} what=${4:-checked}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

# Prints the path of a case's kernel.
find_kernel() { # number kernel
   local file=${2%%\~*} path
   path=$source/tasks/$file
   [[ -e $source/tests/lift/kernels/$file ]] && path=$source/tests/lift/kernels/$file
   if [[ $file != "$2" ]]; then
      sed -e "${2#*\~}" "$path" >"$work/$1.edited.cu"
      cmp -s "$path" "$work/$1.edited.cu" && { echo "$2: the edit changes nothing" >&2; return 1; }
      path=$work/$1.edited.cu
   fi
   echo "$path"
}

one() { # number kernel rewrite outcome rest...
   local number=$1 kernel=$2 rewrite=$3 outcome=$4 path task
   shift 4
   path=$(find_kernel "$number" "$kernel") || return 1
   local out=$work/$number.cu said=$work/$number.said options=()
   "$build/bin/rkb-lift" "$path" "$rewrite" >"$out" 2>"$said"
   local status=$?
   if [[ $outcome = refused ]]; then
      [[ $status = 1 ]] && grep -qF -- "$*" "$said" && return 0
      echo "$kernel: $rewrite must be refused: $*"; cat "$said"
      return 1
   fi
   [[ $status = 0 ]] || { echo "$kernel: $rewrite does not hold"; cat "$said"; return 1; }
   "$build/bin/rkb-lift" "$path" "$rewrite" 2>/dev/null | cmp - "$out" || return 1
   [[ $what = written ]] || ! grep -qx "$number" "$work/checked" && return 0
   for value in "$@"; do options+=(--tune "$value"); done
   task=$(sed -n 's/^task: //p' "$out")
   "$build/bin/rkb" check "$out" --task "$source/tasks/$task" --secret "$(printf %064d 7)" "${options[@]}" >"$work/$number.check" 2>&1 && return 0
   echo "$kernel: $rewrite writes a kernel that is not accepted"; cat "$work/$number.check"
   return 1
}

awk '/^[^#]/ { n++; if ($3 == "holds") print $2 "\t" n }' "$source/tests/lift/rewrites.txt" | "$source/tests/thin.sh" 3 >"$work/checked"
number=0 failed=0 running=0
while read -r kernel rewrite outcome rest; do
   [[ -z $kernel || $kernel = \#* ]] && continue
   number=$((number + 1))
   [[ $kernel$rewrite =~ $pattern ]] || continue
   # shellcheck disable=SC2086
   one $number "$kernel" "$rewrite" "$outcome" $rest &
   running=$((running + 1))
   if [[ $running -ge 2 ]]; then wait -n || failed=1; running=$((running - 1)); fi
done <"$source/tests/lift/rewrites.txt"
while [[ $running -gt 0 ]]; do wait -n || failed=1; running=$((running - 1)); done
[[ $number -gt 0 ]] || { echo "no cases"; exit 1; }
exit $failed
