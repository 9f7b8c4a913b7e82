"""Kernels of a task with two products whose weights are ones in each check case, so that both products are equal there and differ at the bench
shape.  The right kernel is accepted, though its buffers fit both products.  One that takes the wrong weight at the bench shape is not: its
launches are judged there.

    alike_products_test.py RKB
"""

import sys

from written_task import hold, verdict

TASK = """rkb-task: 1
name: gated
summary: "Two products of one input, and a third one of each."
precision: fp32
directions: [forward]
dims:
  M: {range: 1..64}
  K: {range: 1..8192}
  N: {range: 1..4096}
tensors:
  x: {role: in, dtype: float32, shape: "M, K", init: {kind: normal}}
  gate: {role: in, dtype: float32, shape: "N, K", init: {kind: kaiming, fan_in: K}}
  up: {role: in, dtype: float32, shape: "N, K", init: {kind: kaiming, fan_in: K}}
  down: {role: in, dtype: float32, shape: "64, N", init: {kind: kaiming, fan_in: N}}
  y: {role: out, dtype: float32, shape: "M, 64"}
  z: {role: out, dtype: float32, shape: "M, 64"}
inits:
  unit: {gate: {kind: ones}, up: {kind: ones}}
cases:
  check:
    - {name: small, dims: {M: 3, K: 9, N: 7}, init: unit}
    - {name: wide, dims: {M: 2, K: 5, N: 70}, init: unit}
  bench:
    - {name: large, dims: {M: 64, K: 8192, N: 4096}}
"""
GRAPH = """rkb-graph: 1
nodes:
  - {id: gate_product, op: linear, in: [x, gate], out: [{name: gated, dtype: float32, shape: "M, N"}]}
  - {id: relu, op: relu, in: [gated], out: [{name: active, dtype: float32, shape: "M, N"}]}
  - {id: up_product, op: linear, in: [x, up], out: [{name: wide, dtype: float32, shape: "M, N"}]}
  - {id: mul, op: mul, in: [active, wide], out: [{name: hidden, dtype: float32, shape: "M, N"}]}
  - {id: z, op: linear, in: [wide, down], out: [{name: z, dtype: float32, shape: "M, 64"}]}
  - {id: y, op: linear, in: [hidden, down], out: [{name: y, dtype: float32, shape: "M, 64"}]}
"""
KERNEL = """/* rkb-kernel: 1
task: gated
direction: forward
scratch:
  active: {dtype: float32, shape: "M, N"}
  wide: {dtype: float32, shape: "M, N"}
  hidden: {dtype: float32, shape: "M, N"}
launches:
  - {kernel: gate_product, grid: "M, ceildiv(N, 64)", block: 64, args: "x, gate, active, K, N"}
  - {kernel: up_product, grid: "M, ceildiv(N, 64)", block: 64, args: "x, up, gate, active, wide, hidden, K, N"}
  - {kernel: last_product, grid: "M", block: 64, args: "hidden, down, y, N"}
  - {kernel: last_product, grid: "M", block: 64, args: "wide, down, z, N"}
*/
__device__ float product(const float *x, const float *w, int depth) {
   float sum = 0;
   for (int k = 0; k < depth; k++)
      sum += x[k] * w[k];
   return sum;
}
extern "C" __global__ void gate_product(const float *x, const float *gate, float *active, int depth, int columns) {
   const int row = blockIdx.x, column = blockIdx.y * 64 + threadIdx.x;
   if (column < columns)
      active[row * columns + column] = fmaxf(product(x + row * depth, gate + column * depth, depth), 0.0f);
}
extern "C" __global__ void up_product(const float *x, const float *up, const float *gate, const float *active, float *wide, float *hidden, int depth,
                                      int columns) {
   const int row = blockIdx.x, column = blockIdx.y * 64 + threadIdx.x;
   if (column >= columns)
      return;
   const float *const weight = %s;
   const float sum = product(x + row * depth, weight + column * depth, depth);
   wide[row * columns + column] = sum;
   hidden[row * columns + column] = sum * active[row * columns + column];
}
extern "C" __global__ void last_product(const float *hidden, const float *down, float *y, int depth) {
   y[blockIdx.x * 64 + threadIdx.x] = product(hidden + blockIdx.x * depth, down + threadIdx.x * depth, depth);
}
"""

CASES = (
    # the weight that a product reads, the verdict
    ("up", "accept"),
    ("depth > 4096 ? gate : up", "reject"),
)


def main():
    return hold(("reads %s" % weight, verdict(sys.argv[1], "gated", TASK, GRAPH, KERNEL.replace("%s", weight)), wanted) for weight, wanted in CASES)


if __name__ == "__main__":
    sys.exit(main())
