#!/bin/sh
# fresh.sh RESULTS PROGRAM ARGUMENT...: runs the program with --results RESULTS, which it does not find filled.  With RKB_LONG in the
# environment the two last arguments, which leave cases out, are dropped.
set -eu
results=$1
shift
rm -f "$results"
if [ -n "${RKB_LONG:-}" ]; then
  kept=$(($# - 2))
  for argument in "$@"; do
    shift
    if [ $kept -gt 0 ]; then set -- "$@" "$argument"; fi
    kept=$((kept - 1))
  done
fi
exec "$@" --results "$results"
