#!/usr/bin/env bash
# rkb.verifier.diagnostics: a planted fault is told with its line, a clean kernel has none, a text that clang cannot read is told, and none is rejected.
# usage: warnings.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
head='/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - {kernel: k, grid: N, block: 32, args: "x, y, D"}
*/'
body='__global__ void k(const float *x, float *y, int D) {'
printf '%s\n%s\n   y[threadIdx.x] = x[threadIdx.x] * D;\n}\n' "$head" "$body" >"$work/clean.cu"
printf '%s\n%s\n   int forgotten = D;\n   float sum;\n   if (D > 3)\n      sum = x[0];\n   y[0] = sum;\n}\n' "$head" "$body" >"$work/planted.cu"
printf '%s\n#include <mma.h>\n%s\n}\n' "$head" "$body" >"$work/unread.cu"
cat >"$work/warnings.yaml" <<TEXT
rkb: 1
target: h200
propose:
  - {use: rkb.translator.seed, with: {files: [$work/clean.cu, $work/planted.cu, $work/unread.cu]}}
screen:
  - {use: rkb.verifier.diagnostics, needs: []}
TEXT
"$build/bin/rkb-run" "$work/warnings.yaml" --task "$source/tasks/softmax" --out "$work/run" --quiet >"$work/said" 2>&1 || true
said=$(sqlite3 "$work/run/run.sqlite" "SELECT candidate, standing, message FROM verdict WHERE stage = 'diagnostics' ORDER BY candidate")
measured=$(sqlite3 "$work/run/run.sqlite" "SELECT candidate, value FROM measurement WHERE name = 'diagnostics.warnings' ORDER BY candidate")
wanted="1|accept|clang has nothing to remark
2|accept|line 8: unused variable 'forgotten' [-Wunused-variable], and more
3|accept|clang cannot read the text: line 7: 'mma.h' file not found"
if [[ $said != "$wanted" || $measured != $'1|0.0\n2|2.0' ]]; then
   printf 'said:\n%s\nand not:\n%s\nmeasured:\n%s\n' "$said" "$wanted" "$measured"
   cat "$work/said"
   exit 1
fi
