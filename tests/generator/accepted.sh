#!/bin/sh
# Every task in the given folders, in each of its directions: the kernel that the graph translator writes first is accepted.
# usage: accepted.sh RKB-RUN PIPELINE TASKS...
run=$1 pipeline=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

one() { # run pipeline work task direction
   out=$3/$(basename "$4")-$5
   "$1" "$2" --task "$4" --direction "$5" --out "$out" --jobs 1 --quiet >"$out.log" 2>&1 && exit 0
   echo "$4 $5:"
   tail -n 4 "$out.log"
   exit 1
}
if [ "$run" = --one ]; then
   one "$pipeline" "$@"
fi
for task in "$@"; do
   for direction in forward backward; do
      grep -q "^directions:.*$direction" "$task/task.yaml" && printf '%s\n%s\n' "$task" "$direction"
   done
done >"$work/list"
test -s "$work/list" || { echo "no tasks"; exit 1; }
xargs -P 2 -n 2 sh "$0" --one "$run" "$pipeline" "$work" <"$work/list"
