#!/usr/bin/env bash
# What limits.candidates counts: candidates that the search was told of, without duplicates.  The last request is asked for before so many
# are told, at the end of a promote group, and what was asked for by then is tried too.  The result says so.
# usage: candidate_limit.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source=$1
export PATH=$2/bin:$PATH RKB_PLUGIN_PATH=$2/tests/stage/plugins
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
rkb-run "$source/tests/run/climb.yaml" --set limits.candidates=14 --secret "$(printf '%064d' 7)" --jobs 2 --out run >out 2>err
grep -qF 'limits.candidates (14) reached; what was asked for before is tried too' out err ||
  { cat out err; echo "the result does not say what the limit counts"; exit 1; }
python3 - run/run.sqlite <<'TEXT'
import sqlite3
import sys

base = sqlite3.connect(sys.argv[1])
WINDOW, GROUP, LIMIT = 8, 4, 14  # of climb.yaml, and above
fresh = base.execute("select section, number from candidate join request on request.id = candidate.request where duplicate_of is null").fetchall()
propose = "propose"
last = base.execute("select max(number) from request where section <> ?", (propose,)).fetchone()[0]
def told(number):  # before search request `number` is asked for
    return sum(1 for section, request in fresh if section == propose or request <= number - WINDOW)
print(len(fresh), "candidates, last request", last)
end = last + 1  # a whole number of groups
assert end % GROUP == 0
assert told(end) >= LIMIT, "the search ended early"
assert told(end - GROUP) < LIMIT, "the search was asked although it was told of enough"
TEXT
