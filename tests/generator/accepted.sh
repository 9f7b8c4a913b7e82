#!/bin/sh
# Every task in the given folders, in each of its directions: the kernel that the graph translator writes first is accepted.  A task
# that REFUSALS lists is refused instead, with the message that stands there.  LONG lists what takes long, TASK DIRECTION a line; it is left
# out unless RKB_LONG is in the environment, and must be among the tasks.  Of the others, the tasks of a folder one after another with their
# directions, the first and every STEP-th after it is taken then; what must be refused costs little, and is always taken.
# usage: accepted.sh RKB-RUN PIPELINE REFUSALS LONG STEP TASKS...

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

if [ "$1" = --one ]; then
   shift
   one "$@"
fi
run=$1 pipeline=$2 refusals=$3 long=$4 step=$5
shift 5
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for task in "$@"; do
   for direction in forward backward; do
      grep -q "^directions:.*$direction" "$task/task.yaml" || continue
      name="$(basename "$task") $direction"
      if grep -qx "$name" "$long"; then file=long; else file=short; fi
      if grep -q "^$name " "$refusals"; then kind=$name; else kind=$(dirname "$task"); fi
      printf '%s\t%s %s\n' "$kind" "$task" "$direction" >>"$work/$file"
   done
done
test -s "$work/short" || { echo "no tasks"; exit 1; }
touch "$work/long"
if [ "$(grep -vc '^#' "$long")" -ne "$(wc -l <"$work/long")" ]; then
   echo "$long lists what is not there"
   exit 1
fi
if [ -n "${RKB_LONG:-}" ]; then cat "$work/long" >>"$work/short"; fi
"$(dirname "$0")/../thin.sh" "$step" <"$work/short" >"$work/taken" || exit 1
xargs -P 2 -n 2 sh "$0" --one "$run" "$pipeline" "$refusals" "$work" <"$work/taken"
