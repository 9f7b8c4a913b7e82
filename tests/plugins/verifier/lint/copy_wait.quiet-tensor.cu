/* rkb-kernel: 1
task: task
direction: forward
maps:
  rows: {buffer: x, dims: "n, 1", strides: "n", box: "32, 1"}
launches:
  - {kernel: k, grid: 1, block: 128, args: "rows, weight, y, n"}
*/
struct alignas(64) tensor_map { char bytes[128]; };
__device__ void load(unsigned to, const tensor_map *map, unsigned bar) {
   asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(0), "r"(0), "r"(bar) : "memory");
}
__global__ void k(const __grid_constant__ tensor_map rows, const float *weight, float *y, int n) {
   __shared__ alignas(128) float room[32];
   __shared__ unsigned long long bar;
   const unsigned at = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(room);
   asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
   asm volatile("{\n\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;\n}" ::"r"(at));
   load(to, &rows, at);
   asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}" ::"r"(at));
   y[threadIdx.x] = room[threadIdx.x % 32] + weight[0] + n;
}
