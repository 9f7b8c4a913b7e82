// why: blocks add their rows to one by bulk reductions; a plain store instead of one races with the others
// buffer: y inout f32 64 zero
// launch: rows grid=4 block=64 args=y
// expect: pass
// broken: reject race.global
#include "mbarriers.cuh"
extern "C" __global__ void rows(float *y) {
   __shared__ __align__(128) float room[64];
   room[threadIdx.x] = threadIdx.x;
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
#ifdef BROKEN
      if (blockIdx.x == 2)
         bulk_store(y, room, 256);
      else
#endif
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" :: "l"(y), "r"(ROOM(room)) : "memory");
      bulk_commit();
      bulk_wait<0>();
   }
}
