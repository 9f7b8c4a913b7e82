// why: the last block adds up partial sums that its warp wrote; __syncwarp() orders the lanes before the fence and behind it, in place of a barrier of the block
// buffer: x in f32 1024 noise
// buffer: partial scratch f32 128
// buffer: count scratch i32 1 zero
// buffer: y out f32 32
// launch: sum grid=4 block=32 args=x,partial,count,y
// runs: 2
// expect: pass
// broken: reject race.global
extern "C" __global__ void sum(const float *x, float *partial, unsigned *count, float *y) {
   const int lane = threadIdx.x;
   float total = 0;
   for (int i = 0; i < 8; i++)
      total += x[blockIdx.x * 256 + i * 32 + lane];
   partial[blockIdx.x * 32 + lane] = total;
   unsigned before = 0;
#ifndef BROKEN
   __syncwarp();
#endif
   if (lane == 0) {
      __threadfence();
      before = atomicAdd(count, 1);
      __threadfence();
   }
   before = __shfl_sync(0xffffffffu, before, 0);
   if (before != 3)
      return;
   __syncwarp();
   float all = 0;
   for (int b = 0; b < 4; b++)
      all += __ldcg(partial + b * 32 + (lane ^ 1));
   y[lane] = all;
}
