#!/bin/sh
# fresh.sh RESULTS PROGRAM ARGUMENT...: runs the program with --results RESULTS, which it does not find filled.
set -eu
results=$1
shift
rm -f "$results"
exec "$@" --results "$results"
