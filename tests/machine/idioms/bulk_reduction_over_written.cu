// why: threads set rows, and a bulk reduction of the same launch adds to them behind a fence for the async proxy; in the broken one the fence comes
// why: before the rows are set
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: add grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.proxy
#include "mbarriers.cuh"
extern "C" __global__ void add(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   room[threadIdx.x] = x[threadIdx.x];
#ifndef BROKEN
   y[threadIdx.x] = 1;
   asm volatile("fence.proxy.async;" ::: "memory");
#else
   asm volatile("fence.proxy.async;" ::: "memory");
   y[threadIdx.x] = 1;
#endif
   __syncthreads();
   if (threadIdx.x == 0) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" :: "l"(y), "r"(ROOM(room)) : "memory");
      bulk_commit();
      bulk_wait_read<0>();
   }
}
