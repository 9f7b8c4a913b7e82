/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
// cudaMalloc in a comment
struct Pack { float at[4]; float main; };
__global__ void k(const float *x, const float *weight, float *y, int n) {
   Pack pack;
   pack.at[0] = x[0];
   pack.main = 1; /* main() */
   const char *text = "cudaMalloc(main())";
   float exit = 1;
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
