#!/bin/sh
# The finding benchmark: it measures every arm, a run that was interrupted is no result, and one that ended is not made again.
# usage: finding.sh FINDING_PY BUILD TASKS
set -eu
script=$1 build=$2 tasks=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export XDG_CACHE_HOME="$out/cache"
finding() {
   python3 "$script" "$build" "$tasks" "$out" --only adamw_step:forward --candidates 2 --what first,hand,best "$@" > "$out/table" 2> "$out/errors" || {
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
test "$(wc -l < "$out/finding.jsonl")" = 3 || fail "three runs leave three lines"
test -e "$out/kept/adamw_step.forward.best1.cu" || fail "no best kernel was kept"
grep -q '^3 runs, .* 0 runs interrupted$' "$out/table" || fail "the cost is not printed"
grep -q '^by hand / best after' "$out/table" && fail "a mark that no run reached has a mean"
awk -F '\t' '$1 == "adamw_step" && $3 > 0 && $7 > 0 && $9 > 0 && $11 > 0 { good = 1 } END { exit !good }' "$out/table" || fail "the table lacks a figure"
finding
test "$(wc -l < "$out/finding.jsonl")" = 3 || fail "runs that had ended were made again"
sed -i '/"best"/s/"ended": true/"ended": false/' "$out/finding.jsonl"
finding
test "$(wc -l < "$out/finding.jsonl")" = 4 || fail "a run that had been interrupted was not made again"
grep -q '^3 runs, ' "$out/table" || fail "two lines of one run count twice"
