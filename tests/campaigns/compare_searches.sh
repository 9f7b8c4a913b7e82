#!/usr/bin/env bash
# What the searches find with equally many candidates: the best prediction after a quarter, half and all of them, as a gain over
# the best seed, for several seeds of the random streams.  Inputs are few (one family, no drawn shapes), for it is the search that
# is compared.  A line a task, search and seed; a table of geometric means at the end.
# usage: compare_searches.sh SOURCE_DIRECTORY BINARY_DIRECTORY CANDIDATES SEEDS TASK/DIRECTION...
set -euo pipefail
source=$(realpath "$1") candidates=$3 seeds=$4
export PATH=$(realpath "$2")/bin:$PATH
shift 4
unset RKB_PLUGIN_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
searches=(stock stock-no-crossover stock-cells stock-best-of-n tune-only)
few=(--set screen.machine.with.families=1 --set screen.machine.with.shapes=0 --set limits.candidates="$candidates" --set limits.wall=6h
  --set limits.stale=100000 --set limits.generations=100000 --quiet)

# best AFTER: over the best seed, among the first AFTER candidates that were no duplicates.
gain() {
  sqlite3 -readonly "$work/run/run.sqlite" "WITH ranked AS (SELECT id, objective, standing, row_number() OVER (ORDER BY id) AS place FROM candidate
      WHERE duplicate_of IS NULL),
    seed AS (SELECT min(objective) AS value FROM candidate WHERE request < 0 AND standing = 'accept')
    SELECT printf('%.4f', seed.value / min(ranked.objective)) FROM ranked, seed WHERE standing = 'accept' AND place <= $1"
}
printf 'task\tdirection\tsearch\tseed\tquarter\thalf\tall\n' | tee "$work/table"
for each in "$@"; do
  for search in "${searches[@]}"; do
    for ((seed = 1; seed <= seeds; seed++)); do
      [[ $search != tune-only || $seed -eq 1 ]] || continue # the grid draws nothing
      rm -rf "$work/run"
      options=("${few[@]}")
      if [[ $search == tune-only ]]; then options+=(--set limits.stale=100000); fi
      rkb-run "$source/pipelines/$search.yaml" --task "$source/tasks/${each%/*}" --direction "${each#*/}" --set "seed=$seed" "${options[@]}" \
        --out "$work/run" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
      printf '%s\t%s\t%s\t%d\t%s\t%s\t%s\n' "${each%/*}" "${each#*/}" "$search" "$seed" "$(gain $((candidates / 4)))" "$(gain $((candidates / 2)))" \
        "$(gain "$candidates")" | tee -a "$work/table"
    done
  done
done
awk -F'\t' 'NR > 1 { n[$3]++; for (i = 5; i <= 7; i++) sum[$3, i] += log($i); if (!($3 in seen)) { seen[$3] = 1; order[++count] = $3 } }
  END { print "\nsearch\tquarter\thalf\tall\truns"
    for (k = 1; k <= count; k++) { s = order[k]
      printf "%s\t%.3f\t%.3f\t%.3f\t%d\n", s, exp(sum[s, 5] / n[s]), exp(sum[s, 6] / n[s]), exp(sum[s, 7] / n[s]), n[s] } }' "$work/table"
