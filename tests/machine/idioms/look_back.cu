// why: a scan whose blocks take the sum of the blocks before them: one lane polls the block before, and a vote, a reduction and a barrier of the warp
// why: behind the poll wait for it; without the fence nothing orders the sum
// buffer: x in i32 512 ones
// buffer: y out i32 512
// launch: scan grid=16 block=32 args=x,y
// expect: pass
// broken: reject race.global
__device__ int sums[16];
__device__ unsigned ready[16];
extern "C" __global__ void scan(const int *x, int *y) {
   const int lane = threadIdx.x, block = blockIdx.x;
   int value = x[block * 32 + lane], before = 0;
   for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, value, distance);
      value += lane >= distance ? other : 0;
   }
   if (lane == 31) {
      if (block > 0) {
         while (*(volatile unsigned *)&ready[block - 1] == 0)
            ;
         __threadfence();
         before = sums[block - 1];
      }
      sums[block] = before + value;
#ifndef BROKEN
      __threadfence();
#endif
      atomicExch(&ready[block], 1u);
   }
   const unsigned any = __ballot_sync(0xffffffffu, before != 0);
   before = __reduce_add_sync(0xffffffffu, any ? before : 0);
   __syncwarp();
   y[block * 32 + lane] = before + value;
}
