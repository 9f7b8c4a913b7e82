// why: one block waits for its tensor store and tells another block by a flag; the broken one waits until the store has read alone, so that the flag
// why: may come before the bytes
// buffer: x in f32 256 ramp
// buffer: kept scratch f32 256
// buffer: flag scratch i32 1 zero
// buffer: y out f32 256
// map: to kept f32 dims=256 box=256
// launch: pass_on grid=2 block=64 args=to,x,kept,flag,y
// expect: pass
// broken: reject race.global
#include "tensor_maps.cuh"
extern "C" __global__ void pass_on(const __grid_constant__ tensor_map to, const float *x, const float *kept, int *flag, float *y) {
   __shared__ __align__(128) float room[256];
   if (blockIdx.x == 0) {
      for (int n = threadIdx.x; n < 256; n += 64)
         room[n] = x[n] + 1;
      proxy_fence();
      __syncthreads();
      if (threadIdx.x == 0) {
         asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" :: "l"(&to), "r"(0), "r"(ROOM(room)) : "memory");
         bulk_commit();
#ifndef BROKEN
         bulk_wait<0>();
#else
         bulk_wait_read<0>();
#endif
         __threadfence();
         asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(flag) : "memory");
      }
   } else {
      int told = 0;
      while (threadIdx.x == 0 && !told)
         asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(told) : "l"(flag) : "memory");
      __syncthreads();
      for (int n = threadIdx.x; n < 256; n += 64)
         y[n] = kept[255 - n];
   }
}
