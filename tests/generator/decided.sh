#!/bin/sh
# Kernels of decisions that no start takes.  A file of FOLDER says TASK DIRECTION DECISIONS..., and in further lines what its schedule
# and text have (a line "has TEXT"), or with what message it is refused ("refused TEXT").  What is written must be accepted, under the secret 1 or
# those of a line "secret N...".  Without RKB_LONG in the environment a kernel of a file with the line "long" is only written, and of the others
# the first and every STEP-th after it are judged (../thin.sh); files on one thing have names that begin alike.
# usage: decided.sh RKB-RUN WRITE-SCHEDULE PIPELINE TASKS FOLDER STEP
run=$1 write=$2 pipeline=$3 tasks=$4 folder=$5 step=$6
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
for file in "$folder"/*.txt; do
   name=$(basename "$file" .txt)
   grep -q '^refused ' "$file" && continue
   if grep -qx long "$file" && [ -z "${RKB_LONG:-}" ]; then continue; fi
   printf 'kernel\t%s\n' "$name"
done | "$(dirname "$0")/../thin.sh" "$step" >"$work/judged"
test -s "$work/judged" || { echo "nothing is judged"; exit 1; }
for file in "$folder"/*.txt; do
   name=$(basename "$file" .txt)
   mkdir "$work/$name"
   read -r task direction decisions <"$file"
   # shellcheck disable=SC2086 # the decisions are words
   set -f; "$write" "$tasks/$task" "$direction" $decisions >"$work/$name/kernel.cu" 2>"$work/$name.err"; status=$?; set +f
   refusal=$(sed -n 's/^refused //p' "$file")
   if [ -n "$refusal" ]; then
      grep -qF "$refusal" "$work/$name.err" && continue
      echo "$name: not refused with '$refusal'"; cat "$work/$name.err"; failed=1; continue
   fi
   if [ $status -ne 0 ]; then echo "$name:"; cat "$work/$name.err"; failed=1; continue; fi
   sed -n 's/^has //p' "$file" >"$work/wanted"
   while read -r text; do
      grep -qF "$text" "$work/$name/kernel.cu" || { echo "$name: its kernel has no '$text'"; failed=1; }
   done <"$work/wanted"
   grep -qx "$name" "$work/judged" || continue
   secrets=$(sed -n 's/^secret //p' "$file")
   for secret in ${secrets:-1}; do
      if ! "$run" "$pipeline" --task "$tasks/$task" --direction "$direction" --set "propose.seed.with.directory=$work/$name" \
         --out "$work/$name.$secret.run" --jobs 1 --secret "$(printf %064d "$secret")" --quiet >"$work/$name.log" 2>&1; then
         echo "$name, secret $secret:"; tail -n 4 "$work/$name.log"; failed=1
      fi
   done
done
exit $failed
