/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 128, args: "x, weight, y, n"}
*/
__global__ void k(const float *x, const float *weight, float *y, int n) {
   __shared__ float4 room[128];
   asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&room[threadIdx.x])), "l"(x + 4 * threadIdx.x));
   asm volatile("cp.async.commit_group;");
   asm volatile("cp.async.wait_all;" ::: "memory");
   __syncthreads();
   y[threadIdx.x] = room[0].x * weight[0] + n;
}
