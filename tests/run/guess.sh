#!/usr/bin/env bash
# Candidates that are predicted slow are left unchecked, some of them before they are built: they keep the time that was predicted, no
# checked stage ran for them, none is the best, and which they are does not depend on the number of jobs.  For a candidate that was checked,
# the counts alone predict what the machine's counts predict.  The time before the build is never above the one after it.
# usage: guess.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source=$1 binary=$2
unset RKB_PLUGIN_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source/tests/run/guess.yaml" "$work"
cd "$work"
export XDG_CACHE_HOME=$work/cache

complain() { echo "$*" >&2; exit 1; }

run() { # DIRECTORY JOBS
  "$binary/bin/rkb-run" guess.yaml --task "$source/tasks/mnist_cross_entropy" --out "$1" --secret "$(printf '%064d' 7)" --quiet --jobs "$2"
}

run one 1
run four 4
"$binary/bin/rkb" diff one four | tee difference
grep -q '^0 differences in [1-9]' difference || complain "the number of jobs changes the run"

ask() { sqlite3 -readonly one/run.sqlite "$1"; }
left="standing = 'unknown' AND reason = 'search.slower'"
checked="SELECT candidate FROM verdict WHERE stage = 'machine'"
[[ $(ask "SELECT count(*) FROM candidate WHERE $left") -gt 0 ]] || complain "no candidate was left unchecked"
[[ $(ask "SELECT count(*) FROM candidate WHERE $left AND (objective IS NOT NULL OR id IN ($checked))") = 0 ]] || complain "one that was left has an objective or was checked"
guessed="SELECT candidate FROM measurement WHERE name IN ('early.predicted_us', 'guess.predicted_us') AND task_case = ''"
[[ $(ask "SELECT count(*) FROM candidate WHERE $left AND id NOT IN ($guessed)") = 0 ]] || complain "one that was left has no predicted time"
[[ $(ask "SELECT count(*) FROM candidate WHERE standing = 'accept' AND duplicate_of IS NULL AND id NOT IN ($checked)") = 0 ]] || complain "one was accepted without a check"
[[ $(ask "SELECT count(*) FROM candidate WHERE standing = 'accept'") -ge 2 ]] || complain "fewer than two were accepted"
apart=$(ask "SELECT max(abs(m.value / g.value - 1)) FROM measurement m JOIN measurement g USING (candidate)
             WHERE m.name = 'model.predicted_us' AND g.name = 'guess.predicted_us' AND m.task_case = '' AND g.task_case = ''")
awk -v apart="$apart" 'BEGIN { exit !(apart != "" && apart < 0.02) }' || complain "the counts alone predict other times, by a factor of 1 + $apart"

early="SELECT candidate FROM verdict WHERE stage = 'early_slower' AND standing = 'unknown'"
[[ $(ask "SELECT count(*) FROM candidate WHERE $left AND id IN ($early)") -gt 0 ]] || complain "no candidate was left before its build"
[[ $(ask "SELECT count(*) FROM candidate WHERE id IN ($early) AND ptx_hash IS NOT NULL") = 0 ]] || complain "one that was left early was built"
both="measurement e JOIN measurement g USING (candidate) WHERE e.name = 'early.predicted_us' AND g.name = 'guess.predicted_us' AND e.task_case = '' AND g.task_case = ''"
[[ $(ask "SELECT count(*) FROM $both") -gt 2 ]] || complain "too few have both times"
[[ $(ask "SELECT count(*) FROM $both AND e.value > g.value * 1.000001") = 0 ]] || complain "a time before the build is above the one after it"

# Of a candidate that was counted at one of two bench shapes no time is told: it would be a mean over another case than those of others.
cp "$source/tests/run/guess_one_case.yaml" .
"$binary/bin/rkb-run" guess_one_case.yaml --task "$source/tasks/softmax" --out half --quiet --secret "$(printf '%064d' 7)" \
  --set "propose.seed.with.files=[$source/tests/run/guess_one_case.cu]" || true
half() { sqlite3 -readonly half/run.sqlite "$1"; }
[[ $(half "SELECT count(*) FROM candidate") = 1 ]] || complain "the candidate was not proposed"
[[ $(half "SELECT count(*) FROM candidate WHERE objective IS NOT NULL") = 0 ]] || complain "half of the bench cases make an objective"
[[ $(half "SELECT count(*) FROM measurement WHERE name LIKE '%predicted_us'") = 0 ]] || complain "a time was told of one bench case"
