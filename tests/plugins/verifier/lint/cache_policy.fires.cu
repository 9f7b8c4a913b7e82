/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
__global__ void k(const float *x, const float *weight, float *y, int n) {
   float v;
   asm volatile("ld.global.L2::evict_last.f32 %0, [%1];" // HERE
                : "=f"(v) : "l"(x));
   asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(n)); // HERE
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
