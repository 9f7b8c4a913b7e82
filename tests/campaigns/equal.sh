#!/usr/bin/env bash
# Runs of stock.yaml with one seed: one and four threads, each on a cold cache of its own; and
# both again on the warm cache, where "cold" does not leave them out.  rkb diff finds them equal.
# Few candidates of one task, one family of inputs, no drawn shapes and one sampled block, beside what else the suite runs: stock_claims.sh does it whole,
# everywhere, beside busy processes.
# With "workers" a run besides whose builds and checks two screening workers make, one of which is killed in the middle.
# usage: equal.sh SOURCE_DIRECTORY BINARY_DIRECTORY TASK CANDIDATES [cold|workers]
set -euo pipefail
source=$1 task=$3 candidates=$4 caches=${5:-both}
export PATH=$2/bin:$PATH
unset RKB_PLUGIN_PATH
secret=$(printf '%064d' 7)
options=(--set "limits.candidates=$candidates" --set screen.machine.with.families=1 --set screen.machine.with.shapes=0
  --set screen.machine.with.bench_blocks=1 --set screen.machine.with.bench_points=8
  --set search.window=4 --quiet)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# run NAME CACHE JOBS [OPTION]...
run() {
  XDG_CACHE_HOME=$work/$2 rkb-run "$source/pipelines/stock.yaml" --task "$source/tasks/$task" --out "$1" --jobs "$3" --secret "$secret" "${options[@]}" "${@:4}" \
    >"$1.txt" || { cat "$1.txt" >&2; exit 1; }
}

run cold-1 first 1
others=(cold-4)
if [[ $caches != cold ]]; then
  run warm-1 first 1
  run warm-4 first 4
  others+=(warm-1 warm-4)
fi
run cold-4 second 4
if [[ $caches == workers ]]; then
  others+=(screened)
  run screened third 1 --workers '[{device: none, count: 2}]' &
  run=$!
  until grep -q 'it screens' screened/log.jsonl 2>/dev/null; do kill -0 "$run"; sleep 0.05; done
  kill -9 "$(pgrep -o -P "$(pgrep -P "$run" -x rkb-run)" -f rkb-screen-worker)"
  wait "$run"
  grep -q 'one of its workers is left out' screened/log.jsonl
fi
for other in "${others[@]}"; do
  rkb diff cold-1 "$other"
done
# Equal for having done something: the runs hold more than their seeds.
grep -qE ' (tune|schedule|edit|crossover)  ' < <(rkb show cold-1)
