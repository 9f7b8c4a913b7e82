#!/bin/sh
# Scatters that overwrite: the kernel that is written is accepted, and one that adds where it should put is rejected.
# usage: overwritten.sh RKB WRITE-SCHEDULE TASK
set -u
rkb=$1 write=$2 task=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

check() { # file, the verdict's exit code
   "$rkb" check "$work/$1.cu" --task "$task" --direction forward --secret "$(printf %064d 1)" --strict >"$work/$1.log" 2>&1
   status=$?
   [ $status -eq "$2" ] && return
   echo "$1: exit $status, not $2"
   cat "$work/$1.log"
   failed=1
}

fault() { # file, what it changes
   sed "$2" "$work/right.cu" >"$work/$1.cu"
   cmp -s "$work/right.cu" "$work/$1.cu" && { echo "$1: nothing to change by $2"; failed=1; return; }
   check "$1" 1
   grep -q numeric.mismatch "$work/$1.log" || { echo "$1: rejected for another reason"; failed=1; }
}

"$write" "$task" forward >"$work/right.cu" || exit 1
check right 0
fault linked 's/turned_value_last\[0\] = rows_here/turned_value_last[0] += rows_here/'
fault single 's/== v ? one_here : scores_here/== v ? one_here + scores_here : scores_here/'
fault looped 's/gates_value = shares_here/gates_value = shares_here + shares_here/'
exit $failed
