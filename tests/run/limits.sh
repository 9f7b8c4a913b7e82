#!/usr/bin/env bash
# A compile that the limit on processor time ends says nothing about its kernel: the candidate is unknown, and the archive marks the
# verdict as one that may not repeat.  The verdict of the honest candidate beside it repeats.
# usage: limits.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source=$1 binary=$2
unset RKB_PLUGIN_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache
{
  printf '/* rkb-kernel: 1\ntask: softmax\ndirection: forward\nlaunches:\n'
  printf '  - {kernel: k, grid: N, block: 32, args: "y"}\n*/\n#define A y[i] = y[i * 7] * i + 1;\n'
  previous=A
  for name in B C D E F; do
    printf '#define %s' "$name"
    for _ in 1 2 3 4 5 6 7 8; do printf ' %s' "$previous"; done
    printf '\n'
    previous=$name
  done
  printf '__global__ void k(float *y) { int i = threadIdx.x; F F F F }\n'
} >endless.cu
cp "$source/tasks/softmax/seeds/forward/block_per_row.cu" honest.cu
cat >limits.yaml <<TEXT
rkb: 1
name: limits
limits: {compile: 1500ms}
propose:
  - {use: rkb.translator.seed, with: {files: [$work/endless.cu, $work/honest.cu]}}
screen:
  - use: rkb.verifier.lint
  - {use: rkb.verifier.machine, with: {families: 1, shapes: 0}}
TEXT
"$binary/bin/rkb-run" limits.yaml --task "$source/tasks/softmax" --out run --quiet || true
python3 - run/run.sqlite <<'TEXT'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "SELECT candidate, standing, reason, reproducible FROM verdict WHERE stage = 'build' ORDER BY candidate").fetchall()
print(rows)
assert [row[1] for row in rows] == ["unknown", "accept"], rows
assert rows[0][2] == "tool.compile_time" and rows[0][3] == 0, rows
assert rows[1][3] == 1, rows
TEXT
