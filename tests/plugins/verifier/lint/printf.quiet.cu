/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
struct Log { __device__ void printf(int) {} };
__global__ void k(const float *x, const float *weight, float *y, int n) {
   Log log;
   log.printf(1);
   int printf = 2; // printf("x")
   y[0] = printf;
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
