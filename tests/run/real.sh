#!/usr/bin/env bash
# The same run with one job, killed with SIGKILL and resumed until it ends, and with RKB_LONG with four jobs, each without the cache of the
# others.  All must hold the same rows, and the kernel that is best must pass rkb check by itself.
# usage: real.sh SOURCE_DIRECTORY BINARY_DIRECTORY TASK
set -euo pipefail
source=$1 binary=$2 task=$source/tasks/$3
unset RKB_PLUGIN_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source/tests/run/real.yaml" .
export XDG_CACHE_HOME=$work/cache

complain() { echo "$*" >&2; exit 1; }

secret=$(printf '%064d' 7)

run() { # DIRECTORY OPTION...
  local directory=$1
  shift
  "$binary/bin/rkb-run" real.yaml --task "$task" --out "$directory" --secret "$secret" --quiet "$@"
}

same() {
  "$binary/bin/rkb" diff one "$1" | tee difference
  grep -q '^0 differences in [1-9]' difference || complain "$1 differs from one"
}

run one --jobs 1
grep -q . one/run.sqlite || complain "no archive"

# The killed run has two jobs and a cache of its own too, and run_equal has four jobs.
if [[ -n ${RKB_LONG:-} ]]; then
  XDG_CACHE_HOME=$work/cache4 run four --jobs 4
  same four
fi

verdicts() { sqlite3 -readonly "$1/run.sqlite" 'SELECT count(*) FROM verdict' 2>/dev/null || echo 0; }
# Killed when ever more verdicts are stored, so that a kill falls into each part of the run.
export XDG_CACHE_HOME=$work/cache_killed
kills=0
all=$(verdicts one)
for part in 0 1 2 3 4; do
  if [[ -s killed/run.sqlite ]]; then set -- --resume killed --secret "$secret"; else rm -rf killed; set -- real.yaml --task "$task" --secret "$secret" --out killed; fi
  "$binary/bin/rkb-run" "$@" --jobs 2 --quiet >/dev/null 2>&1 & pid=$!
  while kill -0 "$pid" 2>/dev/null && [[ $(verdicts killed) -lt $((all * part / 5 + 1)) ]]; do sleep 0.02; done
  if kill -KILL "$pid" 2>/dev/null; then kills=$((kills + 1)); fi
  wait "$pid" 2>/dev/null || true
done
[[ $kills -gt 0 ]] || complain "the run was never killed"
if [[ -s killed/run.sqlite ]]; then "$binary/bin/rkb-run" --resume killed --secret "$secret" --quiet; else rm -rf killed; run killed; fi
same killed

"$binary/bin/rkb" best one --out best.cu
"$binary/bin/rkb" check --task "$task" best.cu
echo "$kills kills"
