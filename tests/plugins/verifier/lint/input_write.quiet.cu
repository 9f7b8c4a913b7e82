/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
struct Box { float x[4]; };
__global__ void k(const float *x, const float *weight, float *y, int n) {
   Box box;
   box.x[0] = 1;
   float value = n * x[0];
   if (x[0] == weight[1])
      y[0] = x[n] + value * *x + box.x[0];
   y[1] = atomicAdd(y + 2, x[3]);
}
