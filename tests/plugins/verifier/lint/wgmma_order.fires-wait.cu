/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 128, args: "x, weight, y, n"}
*/
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
#define FENCE "wgmma.fence.sync.aligned;"
__global__ void k(const float *x, const float *weight, float *y, int n) {
   unsigned d[2] = {0, 0};
   asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0, %1}, %2, %3, 1, 1, 1, 0, 0;" : "+r"(d[0]), "+r"(d[1]) : "l"(0ull), "l"(0ull)); // HERE
   commit(); asm volatile(FENCE);
   asm volatile("cp.async.wait_group 0;");
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n + d[0];
}
