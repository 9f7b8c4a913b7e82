#!/usr/bin/env bash
# For every task and direction: does stock find a candidate predicted faster than the best seed where the tune space holds one?
# The exhaustive grid of tune assignments is the answer key.  Takes long: it is a target, no test.
# usage: tune_grid.sh SOURCE_DIRECTORY BINARY_DIRECTORY [TASK]...     fails when stock misses where the grid does not
set -euo pipefail
source=$1
export PATH=$2/bin:$PATH
shift 2
unset RKB_PLUGIN_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0
# The grid asks only how fast, so it checks one family of inputs; what it finds was accepted all the same.
grid=(--set screen.machine.with.families=1 --set screen.machine.with.shapes=0 --set limits.wall=60m --set limits.candidates=20000)

# value OUTCOME KEY: a number of rkb-run --json, or nothing.
value() { sed -n "s/.*\"$2\":\([0-9.e+-]*\)[,}].*/\1/p" "$1"; }
# faster A B: whether A is below B by more than one part in a thousand.
faster() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a < 0.999 * b) }'; }

if [[ $# -eq 0 ]]; then set -- $(cd "$source/tasks" && ls); fi
printf '%-24s %-9s %12s %12s %12s  %s\n' task direction 'best seed' grid stock result
for task in "$@"; do
  for direction in forward backward; do
    [[ -d $source/tasks/$task/seeds/$direction ]] || continue
    here=(--task "$source/tasks/$task" --direction "$direction" --json)
    rkb-run "$source/pipelines/tune-only.yaml" "${here[@]}" "${grid[@]}" --out "$work/grid" >"$work/grid.json" 2>"$work/log" || true
    rkb-run "$source/pipelines/stock.yaml" "${here[@]}" --set limits.wall=60m --out "$work/stock" >"$work/stock.json" 2>>"$work/log" || true
    seed=$(value "$work/stock.json" first_value) best=$(value "$work/grid.json" value) found=$(value "$work/stock.json" value)
    result='nothing faster in the grid'
    if faster "$found" "$seed"; then
      result=found
    elif faster "$best" "$seed"; then
      result=MISSED missed=1
    elif [[ -z $best || -z $found ]]; then
      result='NO RESULT' missed=1
      tail -n 3 "$work/log" >&2
    fi
    printf '%-24s %-9s %12s %12s %12s  %s\n' "$task" "$direction" "${seed:--}" "${best:--}" "${found:--}" "$result"
    rm -rf "$work/grid" "$work/stock"
  done
done
exit "$missed"
