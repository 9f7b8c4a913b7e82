// why: a bulk reduction adds to rows, and then a bulk store sets them anew behind the end of the reduction; in the broken one nothing waits for that end
// buffer: x in f32 64 ramp
// buffer: y inout f32 64 zero
// launch: anew grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void anew(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   room[threadIdx.x] = x[threadIdx.x];
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" :: "l"(y), "r"(ROOM(room)) : "memory");
      bulk_commit();
#ifndef BROKEN
      bulk_wait<0>();
#endif
      bulk_store(y, room, 256);
      bulk_commit();
      bulk_wait_read<0>();
   }
}
