// why: of an interleaved layout a copy takes one slice of channels, which the last coordinate but one names; an element of a row has 16 bytes
// buffer: x in bf16 1536 ramp
// buffer: y out bf16 256
// map: from x bf16 dims=8,4,3,2 strides=128,512,1536 box=8,4,8,1 interleave=16
// launch: slice grid=1 block=256 args=from,y
// expect: pass
// broken: reject sync.deadlock
#include "tensor_maps.cuh"
extern "C" __global__ void slice(const __grid_constant__ tensor_map from, unsigned short *y) {
   __shared__ __align__(128) unsigned short room[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
#ifndef BROKEN
      bar_expect(&full, 512);
#else
      bar_expect(&full, 8 * 512); /* as if the box held eight slices */
#endif
      asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
                   :: "r"(ROOM(room)), "l"(&from), "r"(0), "r"(0), "r"(1), "r"(1), "r"(ROOM(&full)) : "memory");
   }
   __syncthreads();
   bar_wait(&full, 0);
   y[t] = room[t];
}
