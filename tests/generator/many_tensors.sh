#!/bin/sh
# A chain of 70 launches with 64 weights, so that its output and all that launches hand on are buffers from number 63 on, in which a bench case
# judges nothing: the kernel is accepted, and one launch is judged with those before it in vain, the one that writes the output.
# usage: many_tensors.sh RKB WRITE-SCHEDULE
set -u
rkb=$1 write=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

awk 'BEGIN {
   print "rkb-task: 1\nname: chain\nsummary: Weights one after the other, and sums of all elements.\nprecision: fp32\ndirections: [forward]"
   print "dims:\n  N: {range: 1..1048576}\ntensors:\n  x: {role: in, dtype: float32, shape: \"N\", init: {kind: normal}}"
   for (i = 0; i < 64; i++)
      printf "  w%d: {role: in, dtype: float32, shape: \"1\", init: {kind: normal}}\n", i
   print "  y: {role: out, dtype: float32, shape: \"N\"}\ncases:\n  check:\n    - {name: one, dims: {N: 1}}\n    - {name: some, dims: {N: 1000}}"
   print "  bench:\n    - {name: as_given, dims: {N: 1048576}}"
}' >"$work/task.yaml"
awk 'BEGIN {
   print "rkb-graph: 1\nnodes:"
   value = "x"
   for (i = 0; i < 64; i++) {
      printf "  - {id: a%d, op: add, in: [%s, w%d], out: [{name: p%d, dtype: float32, shape: \"N\"}]}\n", i, value, i, i
      value = "p" i
      if (i != 20 && i != 40)
         continue
      printf "  - {id: b%d, op: sum, in: [%s], attr: {dim: \"0\", keepdim: true}, out: [{name: s%d, dtype: float32, shape: \"1\"}]}\n", i, value, i
      printf "  - {id: c%d, op: sub, in: [%s, s%d], out: [{name: q%d, dtype: float32, shape: \"N\"}]}\n", i, value, i, i
      value = "q" i
   }
   printf "  - {id: d, op: neg, in: [%s], out: [{name: y, dtype: float32, shape: \"N\"}]}\n", value
}' >"$work/reference.graph.yaml"

"$write" "$work" forward start=apart device=h200 >"$work/chain.cu" || exit 1
"$rkb" check "$work/chain.cu" --task "$work" --direction forward --target h200 --secret "$(printf %064d 1)" --json >"$work/said.json" || {
   cat "$work/said.json"
   exit 1
}
tried=$(grep -o 'with those before it' "$work/said.json" | wc -l)
[ "$tried" -eq 1 ] || { echo "$tried launches were judged with those before them, not 1"; exit 1; }
