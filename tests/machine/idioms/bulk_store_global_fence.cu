// why: a bulk store reads what threads wrote to shared memory behind a fence for that memory; the broken one has a fence for global memory alone
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: rows grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.proxy
#include "mbarriers.cuh"
extern "C" __global__ void rows(const float *x, float *y) {
   __shared__ __align__(128) float out[256];
   for (int n = threadIdx.x; n < 256; n += 64)
      out[n] = x[255 - n];
#ifndef BROKEN
   proxy_fence();
#else
   asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(y, out, 1024);
      bulk_commit();
      bulk_wait<0>();
   }
}
