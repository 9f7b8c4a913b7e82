#!/usr/bin/env bash
# What an accept says of its sample (blocks that may be wrong, shapes that were or were not judged) never reaches a model: it would tell whoever
# writes the next kernel where nobody looked (docs/decisions/secret.md).  The model is a command that keeps what it is asked.
# usage: prompts_of_accepted_parents.sh SOURCE BINARY_DIRECTORY
set -euo pipefail
source=$1 binary=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$binary/bin:$PATH XDG_CACHE_HOME=$work/cache
cat >"$work/model.sh" <<END
#!/bin/sh
cat >>"$work/prompts.txt"
echo 'no kernel'
END
chmod +x "$work/model.sh"
cat >"$work/asks.yaml" <<END
rkb: 1
name: asks
target: h200
objective: {minimise: [model.predicted_us]}
limits: {candidates: 4, stale: 8, wall: 2m}
models:
  kept: {provider: command, command: [$work/model.sh], limits: {concurrency: 1}}
propose:
  - {use: rkb.translator.seed}
screen:
  - {use: rkb.verifier.machine}
  - {use: rkb.profiler.model}
search:
  use: rkb.strategy.islands
  window: 2
  operators:
    - {use: rkb.mutator.llm, weight: 1, with: {mode: improve, models: [{model: kept}]}}
END
rkb-run "$work/asks.yaml" --task "$source/tasks/softmax" --out "$work/run" --secret "$(printf '%064d' 9)" --quiet >/dev/null 2>&1 || true
rkb show "$work/run" 1 >"$work/shown.txt"
grep -q 'of the blocks could be wrong' "$work/shown.txt" || { echo "candidate 1 was not accepted with a sample" >&2; exit 1; }
grep -q '__global__' "$work/prompts.txt" || { echo "the model was asked nothing about a kernel" >&2; exit 1; }
if grep -n 'could be wrong\|blocks beyond 2^31\|no result was judged' "$work/prompts.txt" >&2; then
  echo "a prompt says what the sample left out" >&2
  exit 1
fi
echo "the prompts say nothing of samples"
