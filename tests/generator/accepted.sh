#!/bin/sh
# Every task in the given folders, in each of its directions: the kernel that the graph translator writes first is accepted.  A task
# that REFUSALS lists is refused instead, with the message that stands there.
# usage: accepted.sh RKB-RUN PIPELINE REFUSALS TASKS...
run=$1 pipeline=$2 refusals=$3
shift 3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

one() { # run pipeline refusals work task direction
   name=$(basename "$5") out=$4/$(basename "$5")-$6
   refusal=$(sed -n "s/^$name $6 //p" "$3")
   "$1" "$2" --task "$5" --direction "$6" --out "$out" --jobs 1 --secret "$(printf %064d 1)" --quiet >"$out.log" 2>&1
   status=$?
   if [ -z "$refusal" ]; then
      [ $status -eq 0 ] && exit 0
   elif [ $status -ne 0 ] && grep -qF "gave nothing: tool.invalid: $refusal\"" "$out/log.jsonl"; then
      exit 0
   fi
   echo "$5 $6${refusal:+, which must be refused: $refusal}:"
   tail -n 4 "$out.log"
   grep -h "gave nothing" "$out/log.jsonl"
   exit 1
}
if [ "$run" = --one ]; then
   one "$pipeline" "$refusals" "$@"
fi
for task in "$@"; do
   for direction in forward backward; do
      grep -q "^directions:.*$direction" "$task/task.yaml" && printf '%s\n%s\n' "$task" "$direction"
   done
done >"$work/list"
test -s "$work/list" || { echo "no tasks"; exit 1; }
xargs -P 2 -n 2 sh "$0" --one "$run" "$pipeline" "$refusals" "$work" <"$work/list"
