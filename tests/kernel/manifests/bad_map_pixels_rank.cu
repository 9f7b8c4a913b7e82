/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
maps:
  m: {buffer: x, dims: "D, B", lower: 0, upper: 0, channels: 16, pixels: 32}
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: a map of pixels has 3 to 5 dimensions
