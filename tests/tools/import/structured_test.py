"""A task whose inputs are an upper triangle and a symmetric matrix: kernels that use that are accepted, kernels that are wrong about it
are not; and without the structure in task.yaml none of them is.

    structured_test.py RKB
"""

import sys

from written_task import hold, verdict

TASK = """rkb-task: 1
name: product
summary: "An upper triangle times a symmetric matrix."
precision: fp32
directions: [forward]
dims:
  N: {range: 1..512}
tensors:
  a: {role: in, dtype: float32, shape: "N, N", init: {kind: normal}%s}
  s: {role: in, dtype: float32, shape: "N, N", init: {kind: normal}%s}
  y: {role: out, dtype: float32, shape: "N, N"}
cases:
  check:
    - {name: one, dims: {N: 1}}
    - {name: odd, dims: {N: 19}}
"""
GRAPH = """rkb-graph: 1
nodes:
  - {id: y, op: matmul, in: [a, s], out: [{name: y, dtype: float32, shape: "N, N"}]}
"""
KERNEL = """/* rkb-kernel: 1
task: product
direction: forward
launches:
  - kernel: product
    grid: ceildiv(N * N, 64)
    block: 64
    args: a, s, y, N
*/
extern "C" __global__ void product(const float *a, const float *s, float *y, int n) {
   const int at = blockIdx.x * 64 + threadIdx.x;
   if (at >= n * n)
      return;
   const int row = at / n, column = at %% n;
   float sum = 0;
   for (int k = %s; k < n; k++)
      sum += a[row * n + k] * %s;
   y[at] = sum;
}
"""
UPPER, SYMMETRIC = ", structure: upper", ", structure: symmetric"
HALF = "s[min(k, column) * n + max(k, column)]"
WHOLE = "s[k * n + column]"
CASES = (
    # what the task keeps, the first k of a row, how s is read, the verdict
    ((UPPER, SYMMETRIC), "0", WHOLE, "accept"),
    ((UPPER, SYMMETRIC), "row", WHOLE, "accept"),
    ((UPPER, SYMMETRIC), "row", HALF, "accept"),
    ((UPPER, SYMMETRIC), "row + 1", HALF, "reject"),
    ((UPPER, SYMMETRIC), "row", "s[min(k, column) * n + min(k, column)]", "reject"),
    (("", SYMMETRIC), "row", WHOLE, "reject"),
    ((UPPER, ""), "row", HALF, "reject"),
)


def main():
    return hold(("k from %s, %s%s" % (first, element, "".join(structures)),
                 verdict(sys.argv[1], "product", TASK % structures, GRAPH, KERNEL % (first, element)), wanted)
                for structures, first, element, wanted in CASES)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
