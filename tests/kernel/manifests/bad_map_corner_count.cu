/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
maps:
  m: {buffer: x, dims: "D, B, T", lower: "0, 0", upper: 0, channels: 16, pixels: 32}
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: lower has 2 entries; this map needs 1
