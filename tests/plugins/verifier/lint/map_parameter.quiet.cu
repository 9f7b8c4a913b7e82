/* rkb-kernel: 1
task: task
direction: forward
maps:
  tiles: {buffer: x, dims: "64, 64", box: "32, 32"}
launches:
  - {kernel: k, grid: 1, block: 128, args: "tiles, weight, y"}
*/
struct alignas(64) tensor_map { char bytes[128]; };
__global__ void k(const __grid_constant__ tensor_map tiles, const float *weight, float *y) {
   y[threadIdx.x] = weight[0] + (&tiles)->bytes[0];
}
