// why: blocks add rows by bulk reductions and draw a ticket, and the last one reads the sums; in the broken one they wait until their reductions have read alone
// buffer: x in f32 256 ramp
// buffer: sums scratch f32 64 zero
// buffer: ticket scratch i32 1 zero
// buffer: y out f32 64
// launch: k grid=4 block=64 args=x,sums,ticket,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void k(const float *x, float *sums, int *ticket, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ int last;
   room[threadIdx.x] = x[64 * blockIdx.x + threadIdx.x];
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" :: "l"(sums), "r"(ROOM(room)) : "memory");
      bulk_commit();
#ifndef BROKEN
      bulk_wait<0>();
#else
      bulk_wait_read<0>();
#endif
      __threadfence();
      last = atomicAdd(ticket, 1) == 3;
      __threadfence();
   }
   __syncthreads();
   if (last)
      y[threadIdx.x] = sums[threadIdx.x];
}
