// why: a block clears its rows with a bulk store, waits for the store's end, and then adds to the rows with a bulk reduction; the broken one waits
// why: until the store has read alone, so that the zeros may come last
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: add grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void add(const float *x, float *y) {
   __shared__ __align__(128) float none[64], room[64];
   none[threadIdx.x] = 0;
   room[threadIdx.x] = x[threadIdx.x];
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(y, none, 256);
      bulk_commit();
#ifndef BROKEN
      bulk_wait<0>();
#else
      bulk_wait_read<0>();
#endif
      for (int n = 0; n < 2; n++)
         asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" :: "l"(y), "r"(ROOM(room)) : "memory");
      bulk_commit();
      bulk_wait_read<0>();
   }
}
