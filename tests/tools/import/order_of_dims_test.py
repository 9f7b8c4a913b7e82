"""Kernels of a task whose check cases do not tell in which order two dims of an intermediate lie: of the dims that the kernel turns round,
one has a single element in each of them, and both have more at the bench shape.  The right kernel is accepted.  One that does not turn
them at the bench shape is not: its launches are judged there.

    order_of_dims_test.py RKB
"""

import sys

from written_task import hold, verdict

TASK = """rkb-task: 1
name: turned
summary: "Two products with a turn of two dims between them."
precision: fp32
directions: [forward]
dims:
  H: {range: 1..8}
  C: {range: 1..2}
  K: {range: 1..8192}
  N: {range: 1..4096}
tensors:
  x: {role: in, dtype: float32, shape: "H, C, K", init: {kind: normal}}
  first: {role: in, dtype: float32, shape: "N, K", init: {kind: kaiming, fan_in: K}}
  second: {role: in, dtype: float32, shape: "64, N", init: {kind: kaiming, fan_in: N}}
  y: {role: out, dtype: float32, shape: "C, H, 64"}
cases:
  check:
    - {name: heads, dims: {H: 5, C: 1, K: 9, N: 7}}
    - {name: chunks, dims: {H: 1, C: 2, K: 9, N: 7}}
  bench:
    - {name: large, dims: {H: 8, C: 2, K: 8192, N: 4096}}
"""
GRAPH = """rkb-graph: 1
nodes:
  - {id: hidden, op: linear, in: [x, first], out: [{name: hidden, dtype: float32, shape: "H, C, N"}]}
  - {id: turned, op: permute, in: [hidden], attr: {dims: "1, 0, 2"}, out: [{name: turned, dtype: float32, shape: "C, H, N"}]}
  - {id: y, op: linear, in: [turned, second], out: [{name: y, dtype: float32, shape: "C, H, 64"}]}
"""
KERNEL = """/* rkb-kernel: 1
task: turned
direction: forward
scratch:
  hidden: {dtype: float32, shape: "H, C, N"}
  turned: {dtype: float32, shape: "C, H, N"}
launches:
  - {kernel: product, grid: "H * C, ceildiv(N, 64)", block: 64, args: "x, first, hidden, K, N"}
  - {kernel: turn, grid: "ceildiv(H * C * N, 64)", block: 64, args: "hidden, turned, H, C, N"}
  - {kernel: product, grid: "H * C", block: 64, args: "turned, second, y, N, 64"}
*/
extern "C" __global__ void product(const float *x, const float *w, float *y, int depth, int columns) {
   const int row = blockIdx.x, column = blockIdx.y * 64 + threadIdx.x;
   if (column >= columns)
      return;
   float sum = 0;
   for (int k = 0; k < depth; k++)
      sum += x[row * depth + k] * w[column * depth + k];
   y[row * columns + column] = sum;
}
extern "C" __global__ void turn(const float *x, float *y, int h, int c, int n) {
   const int at = blockIdx.x * 64 + threadIdx.x;
   if (at >= h * c * n)
      return;
   const int k = at % n, own = at / n % h, part = at / n / h;
   y[at] = x[%s];
}
"""


TURNED = "(own * c + part) * n + k"
CASES = (
    # where the turning launch reads, the verdict
    (TURNED, "accept"),
    ("n > 2048 ? at : " + TURNED, "reject"),
)


def main():
    return hold(("reads %s" % place, verdict(sys.argv[1], "turned", TASK, GRAPH, KERNEL.replace("%s", place)), wanted) for place, wanted in CASES)


if __name__ == "__main__":
    sys.exit(main())
