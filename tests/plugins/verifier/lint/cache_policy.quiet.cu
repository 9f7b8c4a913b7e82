/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
__global__ void k(const float *x, const float *weight, float *y, int n) {
   int discard = 1, evict_last = 2; // createpolicy
   float v;
   asm("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(x));
   y[1] = discard + evict_last + v;
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
