#!/usr/bin/env bash
# A plugin that crashes rkb-run is named with its stage and its candidate, and --skip-stage goes on without it: a verifier that is left out says
# nothing of the kernel, an operator that is left out proposes nothing.
# usage: crash.sh BINARY_DIRECTORY TEST_PLUGINS
set -euo pipefail
export PATH=$1/bin:$PATH RKB_PLUGIN_PATH=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ulimit -c 0
cat >crash.yaml <<'YAML'
rkb: 1
seed: 1
limits: {candidates: 12}
objective: {minimise: [distance.distance]}
propose:
  - use: test.translator.start
    with: {values: ["6", "10", "15"]}
screen:
  - {use: test.verifier.crashing}
  - {use: test.profiler.distance}
search:
  use: test.strategy.climb
  window: 2
  operators:
    - {use: test.mutator.step, with: {children: 2, low: 1, high: 60}}
    - {use: test.mutator.crashing, id: breaks}
YAML

fail() { echo "$1"; cat said; exit 1; }
# ends CODE WORDS COMMAND...
ends() {
  local code=$1 words=$2 got=0
  shift 2
  "$@" >said 2>&1 || got=$?
  ((got == code)) || fail "'$*' ended with $got, not $code"
  grep -qF -- "$words" said || fail "'$*' does not say '$words'"
}

# The signal, as without the report.
ends $((128 + 11)) 'the stage crashing (test.verifier.crashing) crashed with signal 11, at work on candidate 2' rkb-run crash.yaml --out run --quiet
grep -qF -- 'rkb-run --resume run --skip-stage crashing' said || fail 'it does not say how to go on'
ends $((128 + 11)) 'the stage crashing' rkb-run --resume run --quiet
ends 2 'the pipeline has no stage of this name' rkb-run --resume run --skip-stage crushing
ends 2 'a run cannot do without it' rkb-run --resume run --skip-stage climb
ends 2 '--skip-stage goes with --resume' rkb-run crash.yaml --out other --skip-stage crashing
ends $((128 + 8)) 'the stage breaks (test.mutator.crashing) crashed with signal 8, proposing' rkb-run --resume run --skip-stage crashing --quiet
ends 1 'accepted' rkb-run --resume run --skip-stage crashing --skip-stage breaks
ends 0 'tool.skipped' rkb show run 2
ends 0 'left out by --skip-stage since it was resumed: crashing breaks' rkb report run
