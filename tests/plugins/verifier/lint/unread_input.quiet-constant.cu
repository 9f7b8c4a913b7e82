/* rkb-kernel: 1
task: task
direction: forward
launches:
  - kernel: k
    grid: 1
    block: 32
    args: x, y, n
    constants: {table: weight}
*/
__constant__ float table[4];
__global__ void k(const float *x, float *y, int n) { y[0] = x[n] * table[0]; }
