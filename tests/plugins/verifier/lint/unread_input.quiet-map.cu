/* rkb-kernel: 1
task: task
direction: forward
maps:
  tiles: {buffer: weight, dims: "64, 64", box: "32, 32"}
launches:
  - {kernel: k, grid: 1, block: 128, args: "tiles, x, y, n"}
*/
struct alignas(64) tensor_map { char bytes[128]; };
__global__ void k(const __grid_constant__ tensor_map tiles, const float *x, float *y, int n) {
   y[threadIdx.x] = x[n] + (&tiles)->bytes[0];
}
