/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
__global__ void k(const float *x, const float *weight, float *y, int n) {
   float clock = 1; /* clock64() */
   const char *text = "clock64()";
   unsigned u;
   asm("mov.u32 %0, %%tid.x; // clock" : "=r"(u));
   y[0] = clock;
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
