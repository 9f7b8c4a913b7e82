#!/usr/bin/env bash
# What stock.yaml promises for every task and direction, each promise with its own answer key:
#   search   every seed of the task is accepted; and where a seed's tune space holds a setting predicted faster than its default
#            (tune-only.yaml tries them all), the run holds a candidate predicted faster than that seed.  result, of each seed:
#              found             a descendant of the seed is faster than it
#              outrun            none is, for the search left this line; but another line holds a candidate faster than every
#                                setting of the seed's tune space
#              none in the grid  none is, and no setting is either
#              MISSED            none of these: the promise is broken
#            Faster is by more than one part in a thousand.  The grid is not run where every seed is found, for it could only
#            confirm: grid_us is then a dash
#   equal    rkb diff finds two runs equal: with FIRST workers, and with SECOND, another number, beside two busy processes.  Each has a
#            build cache of its own, empty at first: on one cache the second run would not show that a text compiles to other bytes
# run is no promise but the run both are about, alone: after it, search and equal may be asked for at the same time, and several
# directions at once when each has a RUNS directory of its own.
# Lines are printed and kept in RUNS/search.tsv and RUNS/equal.tsv as soon as they are known; what is there already is not run
# again, so that a stopped call goes on.  Takes hours for all of them: a target, no test.  Needs sqlite3.
# usage: stock_claims.sh [--jobs FIRST,SECOND,GRID] SOURCE_DIRECTORY BINARY_DIRECTORY RUNS_DIRECTORY run|search|equal [TASK/DIRECTION]...
# Workers: 1, 4 and, for the exhaustive grid, one a core when nothing is said.  Fails when a promise is broken.
set -euo pipefail
cold_jobs=1 other_jobs=4 grid_jobs=$(nproc)
if [[ ${1-} == --jobs ]]; then
  IFS=, read -r cold_jobs other_jobs grid_jobs <<<"$2"
  shift 2
fi
[[ $cold_jobs != "$other_jobs" ]] || { echo "the two runs that are compared want different numbers of workers" >&2; exit 2; }
source=$(realpath "$1") runs=$3 claim=$4
export PATH=$(realpath "$2")/bin:$PATH
shift 4
mkdir -p "$runs/cold"
runs=$(realpath "$runs")
unset RKB_PLUGIN_PATH
# One family of inputs is enough where only the prediction is asked for.
grid=(--set screen.machine.with.families=1 --set screen.machine.with.shapes=0 --set limits.candidates=20000)

# screened DIRECTORY PIPELINE OPTION...: a finished run there.  Exit code 1, nothing accepted, is a result too.
screened() {
  local directory=$1 pipeline=$2 code=0
  shift 2
  rm -rf "$directory" "$directory.log"
  rkb-run "$source/pipelines/$pipeline" --task "$source/tasks/$task" --direction "$direction" --set limits.wall=6h --secret "$(printf '%064d' 7)" --quiet \
    --out "$directory" "$@" >"$directory.log" 2>&1 || code=$?
  [[ $code -le 1 ]] || { echo "$task $direction: rkb-run $pipeline ended with $code" >&2; tail -n 3 "$directory.log" >&2; return 1; }
}
# The run both promises are about, made once, with a cache of its own.
stock_run() {
  [[ -e $cold.done ]] || { rm -rf "$XDG_CACHE_HOME" && screened "$cold" stock.yaml --jobs "$cold_jobs" && echo "$cold_jobs" >"$cold.done"; }
}
ask() { sqlite3 -readonly -separator $'\t' "$1/run.sqlite" "$2"; }

# Seeds that were not accepted: none when all is well.
refused_seeds="SELECT group_concat(note || ' ' || standing || ' ' || reason, '; ') FROM candidate
  WHERE request < 0 AND standing <> 'accept' AND duplicate_of IS NULL"
# For each seed: its name, source, own value, the least value among its descendants.
seeds_and_descendants="WITH RECURSIVE line(seed, id) AS (SELECT id, id FROM candidate WHERE request < 0 UNION
    SELECT seed, child FROM line JOIN parent ON parent.parent = line.id AND role = 'parent')
  SELECT replace(seed.note, 'seed ', ''), seed.source_hash, seed.objective, min(c.objective)
  FROM line JOIN candidate seed ON seed.id = line.seed JOIN candidate c ON c.id = line.id
  WHERE c.standing = 'accept' AND c.duplicate_of IS NULL GROUP BY seed.id ORDER BY seed.id"
# The best setting of a seed's tune space, by the seed's source.
best_of_grid() {
  [[ ! -d $runs/grid ]] || ask "$runs/grid" "SELECT min(objective) FROM candidate WHERE source_hash = '$1' AND standing = 'accept' AND duplicate_of IS NULL"
}
# judge SEED DESCENDANT GRID BEST: what these say; BEST: the least value of the whole run.
judge() {
  awk -v seed="$1" -v descendant="$2" -v grid="$3" -v best="$4" 'BEGIN {
    if (descendant < 0.999 * seed) print "found"
    else if (grid == "" || grid >= 0.999 * seed) print "none in the grid"
    else print best < grid ? "outrun" : "MISSED" }'
}

search_columns='task\tdirection\tcandidates\tseeds\tseed\tseed_us\tdescendant_us\tgrid_us\tresult'
search() {
  local refused count seed hash value best grid_best run_best
  rm -rf "$runs/grid"
  if [[ -n $(while IFS=$'\t' read -r seed hash value best; do judge "$value" "$best" "" ""; done < <(ask "$cold" "$seeds_and_descendants") |
    grep -v '^found$') ]]; then
    screened "$runs/grid" tune-only.yaml --jobs "$grid_jobs" "${grid[@]}" || return 1
  fi
  refused=$(ask "$cold" "$refused_seeds")
  run_best=$(ask "$cold" "SELECT min(objective) FROM candidate WHERE standing = 'accept' AND duplicate_of IS NULL")
  count=$(ask "$cold" "SELECT count(*) FROM candidate WHERE duplicate_of IS NULL")
  while IFS=$'\t' read -r seed hash value best; do
    grid_best=$(best_of_grid "$hash")
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$task" "$direction" "$count" "${refused:-all accepted}" "$seed" "$value" "$best" \
      "${grid_best:--}" "$(judge "$value" "$best" "$grid_best" "$run_best")"
  done < <(ask "$cold" "$seeds_and_descendants")
}

equal_columns='task\tdirection\tjobs\tother_jobs\tcandidates\tresult'
equal() {
  local result=equal code=0 busy=() other=$runs/other
  rm -rf "$other.cache"
  for _ in 1 2; do
    (while kill -0 $$; do :; done) 2>/dev/null & # ends with this script, however that ends
    busy+=($!)
  done
  XDG_CACHE_HOME=$other.cache screened "$other" stock.yaml --jobs "$other_jobs" || code=$?
  kill "${busy[@]}"
  [[ $code -eq 0 ]] || return 1
  rkb diff "$cold" "$other" >"$runs/diff" || { result=DIFFERENT; mv "$runs/diff" "$cold.diff"; }
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$task" "$direction" "$(<"$cold.done")" "$other_jobs" "$(ask "$cold" "SELECT count(*) FROM candidate")" "$result"
}

if [[ $# -eq 0 ]]; then set -- $(cd "$source/tasks" && ls -d */seeds/* | sed 's|/seeds||'); fi
table=$runs/$claim.tsv columns=${claim}_columns
if [[ $claim == run ]]; then table=/dev/null; fi
[[ -e $table ]] || printf "${!columns}\n" >"$table"
broken=0
for each in "$@"; do
  task=${each%/*} direction=${each#*/}
  if grep -q "^$task	$direction	" "$table"; then continue; fi
  cold=$runs/cold/$task-$direction
  export XDG_CACHE_HOME=$cold.cache
  if [[ $claim == run ]]; then stock_run || broken=1; continue; fi
  stock_run && "$claim" >"$runs/lines-$claim" || { broken=1; continue; }
  tee -a "$table" <"$runs/lines-$claim"
done
if [[ $claim == run ]]; then exit "$broken"; fi
awk -F'\t' -v broken="$broken" 'NR > 1 { lines++; bad += $NF !~ /^(found|outrun|none in the grid|equal)$/ || (NF > 6 && $4 != "all accepted") }
  END { printf "%d lines, %d with a broken promise\n", lines, bad; exit bad > 0 || lines == 0 || broken }' "$table"
