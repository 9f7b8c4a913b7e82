// expect: build.error: its static shared memory is too large: 65536 bytes, where a block may have 49152
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
__global__ void k(float *x) {
   __shared__ float tile[16384];
   for (int i = threadIdx.x; i < 16384; i += 32)
      tile[i] = x[i];
   __syncthreads();
   for (int i = threadIdx.x; i < 16384; i += 32)
      x[i] = tile[16383 - i];
}
