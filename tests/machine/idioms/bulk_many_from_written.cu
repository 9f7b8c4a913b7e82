// why: more copies from memory that the program writes than are kept on their way: what each thread has waited for is forgotten
// buffer: y out f32 64
// launch: copies grid=1 block=32 args=y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
__device__ __align__(128) float source[64];
extern "C" __global__ void copies(float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   const int lane = threadIdx.x;
   source[lane] = 1 + lane;
   source[32 + lane] = 33 + lane;
   if (lane == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   asm volatile("fence.proxy.async;" ::: "memory");
   __syncwarp();
   for (int n = 0; n < 5000; n++) {
      if (lane == 0) {
         bar_expect(&full, 256);
         bulk_load(room, source, 256, &full);
      }
#ifdef BROKEN
      if (n == 4999)
         source[lane] = 0;
#endif
      bar_wait(&full, n & 1);
   }
   y[lane] = room[lane];
   y[32 + lane] = room[32 + lane];
   __syncwarp();
   source[lane] = 0;
}
