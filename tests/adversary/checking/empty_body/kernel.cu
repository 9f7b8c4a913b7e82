/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: kernel
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/

__global__ void kernel(const float *x, const float *weight, float *y, float eps, int D) {
}
