#!/usr/bin/env bash
# A fault whose text the compiler gave up on was judged by nobody: the table counts it apart, as neither rejected nor let through.
# usage: unbuilt.sh SOURCE_DIRECTORY RKB_BENCH_VERIFY
set -euo pipefail
source=$1 verify=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fault=drop_barrier/softmax/forward/block_per_row
awk -F'\t' -v fault="$fault/" 'index($1, fault) == 1 && $3 == "fault" && ++n <= 2' "$source/tests/faults/labels.tsv" >"$work/labels.tsv"
awk -F'\t' -v OFS='\t' '{ print $1, $2, NR == 1 ? "unknown" : "reject", NR == 1 ? "tool.compile_time" : "race.shared", 1 }' "$work/labels.tsv" >"$work/results.tsv"
[[ $(wc -l <"$work/results.tsv") -eq 2 ]] || { echo "labels.tsv has no two faults $fault" >&2; exit 1; }
"$verify" --tasks "$source/tasks" --bases "$source/tests/faults/bases" --pipeline "$source/tests/faults/machine.yaml" \
  --labels "$work/labels.tsv" --results "$work/results.tsv" >"$work/table"
grep -qE '^drop_barrier +1 +1 +0 ' "$work/table" && grep -q '^1 more were not judged' "$work/table" || { cat "$work/table"; exit 1; }
