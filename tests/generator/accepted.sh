#!/bin/sh
# Every task in the given folders, in each of its directions: the kernel that the graph translator writes first is accepted.  A task
# that REFUSALS lists is refused instead, with the message that stands there.  LONG lists what takes minutes, TASK DIRECTION a line; what it
# lists must be among the tasks.
# usage: accepted.sh RKB-RUN PIPELINE REFUSALS without|only LONG TASKS...
run=$1 pipeline=$2 refusals=$3 which=$4 long=$5
shift 5
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

one() { # run pipeline refusals work task direction
   name=$(basename "$5") out=$4/$(basename "$5")-$6
   refusal=$(sed -n "s/^$name $6 //p" "$3")
   "$1" "$2" --task "$5" --direction "$6" --out "$out" --jobs 1 --secret "$(printf %064d 1)" --quiet >"$out.log" 2>&1
   status=$?
   if [ -z "$refusal" ]; then
      [ $status -eq 0 ] && exit 0
   elif [ $status -ne 0 ] && grep -qE "gave nothing: tool.(invalid|limit): " "$out/log.jsonl" && grep -qF ": $refusal\"" "$out/log.jsonl"; then
      exit 0
   fi
   echo "$5 $6${refusal:+, which must be refused: $refusal}:"
   tail -n 4 "$out.log"
   grep -h "gave nothing" "$out/log.jsonl"
   exit 1
}
if [ "$run" = --one ]; then
   one "$pipeline" "$refusals" "$which" "$long" "$@"
fi
for task in "$@"; do
   for direction in forward backward; do
      grep -q "^directions:.*$direction" "$task/task.yaml" || continue
      if grep -qx "$(basename "$task") $direction" "$long"; then kind=only; else kind=without; fi
      printf '%s\n%s\n' "$task" "$direction" >>"$work/$kind"
   done
done
test -s "$work/$which" || { echo "no tasks"; exit 1; }
touch "$work/only"
if [ "$(grep -vc '^#' "$long")" -ne $(($(wc -l <"$work/only") / 2)) ]; then
   echo "$long lists what is not there"
   exit 1
fi
xargs -P 2 -n 2 sh "$0" --one "$run" "$pipeline" "$refusals" "$work" <"$work/$which"
