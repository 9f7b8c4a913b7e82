#!/usr/bin/env bash
# Whether a run accepted a kernel that the fault corpus labels wrong: candidates and faults that are the same tokens with the same
# tune values.  Needs runs (stock_claims.sh makes them), the corpus's labels and sqlite3; builds nothing.
# usage: accepted_faults.sh SOURCE_DIRECTORY BINARY_DIRECTORY LABELS.tsv RUNS_DIRECTORY/cold
# A line a task and direction (proposed: candidates of the run that are such faults, whatever was found of them); fails when one was accepted, or when there was nothing to compare.
set -euo pipefail
source=$(realpath "$1") labels=$(realpath "$3") runs=$(realpath "$4")
export PATH=$(realpath "$2")/bin:$PATH
unset RKB_PLUGIN_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
most=64 # files of one directory that rkb.translator.seed takes
rkb-make-faults --tasks "$source/tasks" --bases "$source/tests/faults/bases" --out corpus >/dev/null
# id, task/direction of every fault; an id is operator/task/direction/kernel/site.
awk -F'\t' '!/^#/ && $3 == "fault" { split($1, part, "/"); print $1 "\t" part[2] "/" part[3] }' "$labels" >faults

# The archive knows a candidate's tokens and tune values by a hash; lint alone, which builds nothing, is enough to have it.
cat >tokens.yaml <<'Y'
rkb: 1
name: tokens
target: h200
propose:
  - use: rkb.translator.seed
screen:
  - use: rkb.verifier.lint
Y
# hashes TASK DIRECTION FILE...: "token hash, file" of each.
hashes() {
  local task=$1 direction=$2 at=0
  shift 2
  while [[ $# -gt 0 ]]; do
    rm -rf batch batch-run && mkdir batch
    printf '%s\n' "${@:1:most}" >names
    while IFS= read -r name; do cp "corpus/$name.cu" "batch/$(tr / % <<<"$name").cu"; done <names
    shift $(($# < most ? $# : most))
    rkb-run tokens.yaml --task "$source/tasks/$task" --direction "$direction" --set "propose.seed.with.directory=$work/batch" \
      --out batch-run --quiet >/dev/null 2>log || [[ $? -eq 1 ]] || { cat log >&2; return 1; }
    sqlite3 -readonly -separator ' ' batch-run/run.sqlite "SELECT token_hash, note FROM candidate WHERE token_hash IS NOT NULL"
    at=$((at + 1))
  done
}

printf '%-24s %-9s %10s %10s %10s %10s  %s\n' task direction candidates accepted faults proposed 'accepted although wrong'
bad=0 compared=0
for run in "$runs"/*/; do
  run=${run%/}
  [[ -e $run.done ]] || continue
  task=$(sqlite3 -readonly "$run/run.sqlite" "SELECT value FROM fact WHERE key = 'task'")
  direction=$(sqlite3 -readonly "$run/run.sqlite" "SELECT value FROM fact WHERE key = 'direction'")
  mapfile -t names < <(awk -F'\t' -v of="$task/$direction" '$2 == of { print $1 }' faults)
  [[ ${#names[@]} -gt 0 ]] || continue
  hashes "$task" "$direction" "${names[@]}" | sort >wrong
  sqlite3 -readonly "$run/run.sqlite" "SELECT token_hash FROM candidate WHERE standing = 'accept' AND duplicate_of IS NULL" | sort >accepted
  sqlite3 -readonly "$run/run.sqlite" "SELECT token_hash FROM candidate WHERE duplicate_of IS NULL" | sort >proposed
  both=$(join accepted wrong | cut -d' ' -f2- | tr '\n' ' ')
  printf '%-24s %-9s %10d %10d %10d %10d  %s\n' "$task" "$direction" "$(wc -l <proposed)" "$(wc -l <accepted)" "$(wc -l <wrong)" \
    "$(join proposed wrong | wc -l)" "${both:-none}"
  [[ -z $both ]] || bad=1
  compared=$((compared + 1))
done
echo "$compared runs compared"
[[ $bad -eq 0 && $compared -gt 0 ]]
