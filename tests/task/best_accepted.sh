#!/bin/sh
# The kernels of tasks/*/best are accepted: what the checking machine learns after one was published holds for it too.  A plain ctest takes every
# eighth (../thin.sh), with RKB_LONG all.
# usage: best_accepted.sh SOURCE BUILD
source=$1 build=$2 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work"
for file in "$source"/tasks/*/best/*/best.cu; do printf 'best\t%s\n' "$file"; done | "$source/tests/thin.sh" 8 >"$work/taken" || exit 1
[ -s "$work/taken" ] || { echo "no kernel was found in $source/tasks" >&2; exit 1; }
while read -r file; do
  direction=$(basename "$(dirname "$file")")
  task=${file%/best/*}
  if ! "$build/bin/rkb" check "$file" --task "$task" --direction "$direction" --target h200 \
    --secret 65766572796f6e65206b6e6f7773207468697320736563726574000000000000 >"$work/said" 2>&1; then
    echo "$file is not accepted:" >&2
    cat "$work/said" >&2
    failed=1
  fi
done <"$work/taken"
exit $failed
