#!/bin/sh
# few.sh LIST STEP COMMAND...: runs the command with --only FILE, where FILE has of the kernels of LIST the first of each direction and every STEP-th
# after it (../thin.sh).
set -eu
list=$1 step=$2
shift 2
awk -F / '/^[^#]/ { print $2 "\t" $0 }' "$list" | "$(dirname "$0")/../thin.sh" "$step" >few.txt
test -s few.txt
exec "$@" --only few.txt
