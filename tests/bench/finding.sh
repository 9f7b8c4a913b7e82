#!/bin/sh
# The finding benchmark: it measures every arm, a run that was interrupted is no result, and one that ended is not made again.
# usage: finding.sh FINDING_PY BUILD TASKS
set -eu
script=$1 build=$2 tasks=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export XDG_CACHE_HOME="$out/cache"
finding() {
   python3 "$script" "$build" "$tasks" "$out" --only adamw_step:forward --candidates 2 --what first,hand,best,random "$@" > "$out/table" 2> "$out/errors" || {
      cat "$out/errors"
      exit 1
   }
}
fail() {
   echo "$1"
   cat "$out/table" "$out/errors" "$out/finding.jsonl"
   exit 1
}

finding --for 0
test ! -e "$out/finding.jsonl" || fail "a sitting without time made runs"
finding --keep "$out/kept"
test "$(wc -l < "$out/finding.jsonl")" = 4 || fail "four runs leave four lines"
test -e "$out/kept/adamw_step.forward.best1.cu" || fail "no best kernel was kept"
grep -q '^4 runs, .* 0 runs interrupted$' "$out/table" || fail "the cost is not printed"
grep -q '^by hand / best after' "$out/table" && fail "a mark that no run reached has a mean"
awk -F '\t' '$1 == "adamw_step" && $3 > 0 && $7 > 0 && $9 > 0 && $11 > 0 && $17 > 0 && $18 > 0 { good = 1 } END { exit !good }' "$out/table" || fail "the table lacks a figure"
# Both starts are accepted, the first one by the end of the run and none better than the better one.  stock begins with the plain one too.
python3 -c 'import json, sys
rows = {row["what"]: row for row in map(json.loads, open(sys.argv[1], encoding="utf-8"))}
first, accepted = rows["first"], rows["first"]["accepted_first"]
sys.exit(not (first["accepted"] == 2 and accepted[0] <= first["seconds"] and accepted[1] >= first["us"] and "plain" in rows["best"]["operators"]))' \
   "$out/finding.jsonl" || fail "the first accepted kernel is not told"
finding
test "$(wc -l < "$out/finding.jsonl")" = 4 || fail "runs that had ended were made again"
sed -i '/"best"/s/"ended": true/"ended": false/' "$out/finding.jsonl"
finding
test "$(wc -l < "$out/finding.jsonl")" = 5 || fail "a run that had been interrupted was not made again"
grep -q '^4 runs, ' "$out/table" || fail "two lines of one run count twice"

# Of runs of unequal length the shorter one's builds decide: after one build chance has 30 and the search 20; that 20 more builds give chance 10 does not count.
cat > "$out/finding.jsonl" << END
{"task": "adamw_step", "direction": "forward", "what": "random", "count": 2, "seed": 1, "ended": false, "us": 10, "candidates": 21, "cpu": 1, "built": 21, "course": [[1, 30], [21, 10]]}
{"task": "adamw_step", "direction": "forward", "what": "best", "count": 2, "seed": 1, "ended": false, "us": 20, "candidates": 1, "cpu": 1, "built": 1, "course": [[1, 20]]}
{"task": "adamw_step", "direction": "forward", "what": "hand", "count": 0, "seed": 1, "ended": true, "us": 15, "candidates": 1, "cpu": 1}
END
finding --for 0
grep -q '^adamw_step forward: random / search 1.500 at equal builds, seeds 1: 1.500 at 1$' "$out/table" || fail "the arms are not compared at equal builds"
# A search that was cut off has a least figure all the same: more candidates never make its best worse.
grep -q '^by hand / best after' "$out/table" && fail "a search that was cut off counts as one that ended"
grep -q '^by hand / best so far: 0.750 over 1 directions, least 0.750$' "$out/table" || fail "what is known of a search that was cut off is left out"
grep -q '^below 0.8 so far: adamw_step forward$' "$out/table" || fail "a slow direction is not named"

# The arm that leaves slow candidates unchecked is compared with the one that checks all, and says how many it left and what a candidate cost.
cat > "$out/finding.jsonl" << END
{"task": "adamw_step", "direction": "forward", "what": "best", "count": 2, "seed": 1, "ended": true, "us": 20, "candidates": 2, "cpu": 8, "built": 2, "after": {"2": 20}}
{"task": "adamw_step", "direction": "forward", "what": "guess", "count": 2, "seed": 1, "ended": true, "us": 22, "candidates": 4, "cpu": 2, "built": 4, "unchecked": 3, "after": {"2": 22}}
END
finding --for 0
grep -q '^guess / best after 2, both: 1.100 over 1 directions' "$out/table" || fail "the arm that leaves candidates is not compared"
grep -q '^best: 4.00 s of processor time a candidate, 0 of 2 left unchecked$' "$out/table" || fail "what a candidate costs is not told"
grep -q '^guess: 0.50 s of processor time a candidate, 3 of 4 left unchecked$' "$out/table" || fail "how many candidates were left is not told"
