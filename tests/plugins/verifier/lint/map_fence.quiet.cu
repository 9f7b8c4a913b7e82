/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 128, args: "x, weight, y, n"}
*/
__device__ void change(unsigned at, const void *to) { asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at), "l"(to) : "memory"); }
__device__ void release(void *to, unsigned at) {
   asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(to), "r"(at) : "memory");
}
__device__ void acquire(const void *map) { asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory"); }
__global__ void k(const float *x, const float *weight, float *y, int n) {
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
