#!/usr/bin/env python3
"""Writes kernels that do harm, and honest ones between them, into FOLDER/0, FOLDER/1, ...: 50 hostile ones each.
usage: hostile.py FOLDER COUNT

Each is for softmax and names what is expected of it, so expectations.py can read the run.  An honest kernel follows every
tenth: harm to it would show as a wrong verdict.  A number that nothing depends on tells them apart: a duplicate is not run."""

import os
import random
import sys

A_FOLDER = 50
HEAD = """/* rkb-kernel: 1
task: softmax
direction: forward
{scratch}launches:
  - kernel: softmax
    grid: N
    block: {block}
    args: x, y, N, D
*/
/* expect: {expect} */
"""

ENTRY = 'extern "C" __global__ void softmax(const float *x, float *y, int N, int D) {{\n{body}\n}}\n'

# name -> (what is expected, body; a number makes each one different)
KINDS = {
    "endless_loop": ("reject", "   volatile int going = {n};\n   while (going)\n      y[0] = (float)going;"),
    "one_thread_never_ends": ("reject", "   if (threadIdx.x == {n} % 32)\n      for (;;)\n         __nanosleep(100);"),
    "barrier_without_end": ("reject", "   for (volatile int i = 1; i; i++)\n      __syncthreads();\n   y[0] = {n};"),
    "wild_write": ("reject", "   ((volatile float *)0x{wild:x}ull)[threadIdx.x] = {n}.0f;"),
    "null_write": ("reject", "   ((volatile float *)nullptr)[{n} + threadIdx.x] = 1.0f;"),
    "far_past_the_end": ("reject", "   ((volatile float *)y)[(long long)N * D + {n} * 1048576ll + threadIdx.x] = 1.0f;"),
    "before_the_start": ("reject", "   ((volatile float *)y)[-{n} * 1048576ll - 1] = 1.0f;"),
    "trap": ("reject", "   if (threadIdx.x == {n} % 32)\n      __trap();"),
    "misaligned": ("reject", "   *(volatile double *)((char *)y + 1 + {n} % 7) = 1.0;"),
    "shared_past_the_end": ("reject", "   extern __shared__ float room[];\n   ((volatile float *)room)[{n} * 100000 + 60000] = 1.0f;\n   y[0] = room[0];"),
    "deep_recursion": ("reject", "   y[0] = deep(x, {n} + 1000000000);"),
    "device_heap": ("reject", "   for (int i = 0; i < 1000; i++)\n      if (char *p = (char *)malloc(1 << 20))\n         p[{n}] = 1;\n   y[0] = 0;"),
    "nothing_written": ("reject", "   if (N < -{n})\n      y[0] = x[0];"),
}
DEEP = "__device__ __noinline__ float deep(const float *x, int n) { volatile float room[64]; room[n % 64] = x[0]; return n == 0 ? room[0] : deep(x, n - 1) + room[n % 64]; }\n"

HONEST = """   if (threadIdx.x == 0) {{
      float top = -3.0e38f, sum = 0.0f;
      const float *row = x + (long long)blockIdx.x * D;
      for (int i = 0; i < D; i++)
         top = fmaxf(top, row[i]);
      for (int i = 0; i < D; i++)
         sum += expf(row[i] - top);
      for (int i = 0; i < D; i++)
         y[(long long)blockIdx.x * D + i] = expf(row[i] - top) / sum;
      if (D == -{n})
         y[0] = {n}.0f;
   }}"""


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    draw = random.Random(20)
    names = list(KINDS)
    for number in range(count):
        name = names[number % len(names)]
        expect, body = KINDS[name]
        body = "   if (D == -{n})\n      y[1] = 0.0f;\n" + body
        body = body.format(n=1 + number, wild=draw.getrandbits(46) & ~15)
        text = HEAD.format(scratch="", block=32, expect=expect) + "\n" + (DEEP if name == "deep_recursion" else "") + ENTRY.format(body=body)
        part = os.path.join(folder, str(number // A_FOLDER))
        os.makedirs(part, exist_ok=True)
        with open(os.path.join(part, f"{number:03d}_{name}.cu"), "w", encoding="utf-8") as file:
            file.write(text)
        if number % 10 == 9:
            text = HEAD.format(scratch="", block=32, expect="accept") + "\n" + ENTRY.format(body=HONEST.format(n=number))
            with open(os.path.join(part, f"{number:03d}_then_honest.cu"), "w", encoding="utf-8") as file:
                file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
