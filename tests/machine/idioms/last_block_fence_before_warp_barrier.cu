// why: the lane that counts its block fences before it knows of the other lanes' stores; behind a barrier of two warps it fences what they wrote
// buffer: x in f32 1024 noise
// buffer: partial scratch f32 256
// buffer: count scratch i32 1 zero
// buffer: y out f32 64
// launch: sum grid=4 block=96 args=x,partial,count,y
// runs: 2
// expect: pass
// broken: reject race.global
extern "C" __global__ void sum(const float *x, float *partial, unsigned *count, float *y) {
   __shared__ unsigned before;
   const int t = threadIdx.x;
   if (t >= 64) /* the third warp takes no part */
      return;
   float total = 0;
   for (int i = 0; i < 4; i++)
      total += x[blockIdx.x * 256 + i * 64 + t];
   partial[blockIdx.x * 64 + t] = total;
#ifdef BROKEN
   if (t == 0)
      __threadfence();
   asm volatile("bar.sync 1, 64;" ::: "memory");
#else
   asm volatile("bar.sync 1, 64;" ::: "memory");
   if (t == 0)
      __threadfence();
#endif
   if (t == 0) {
      before = atomicAdd(count, 1);
      __threadfence();
   }
   asm volatile("bar.sync 1, 64;" ::: "memory");
   if (before != 3)
      return;
   float all = 0;
   for (int b = 0; b < 4; b++)
      all += __ldcg(partial + b * 64 + (t ^ 33));
   y[t] = all;
}
