/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k<32>, grid: 1, block: 32, args: "x, weight, y, n"}
*/
template <int block, class T = float>
__global__ void __launch_bounds__(block) k(const T *x,
   const T *weight, // HERE
   T *y, int n) {
   y[threadIdx.x] = x[threadIdx.x] * n; // weight
}
