// why: pixels of an interleaved layout with slices of 32 bytes; the pixel to begin with is one of the box of pixels
// buffer: x in bf16 3072 ramp
// buffer: y out bf16 512
// map: from x bf16 dims=8,4,3,2 strides=256,1024,3072 lower=-1,-1 upper=-1,-1 channels=16 pixels=32 interleave=32 swizzle=32
// launch: slice grid=1 block=512 args=from,y
// expect: pass
// broken: reject memory.out_of_bounds
#include "tensor_maps.cuh"
#ifndef BROKEN
#define FIRST -1
#else
#define FIRST -2
#endif
extern "C" __global__ void slice(const __grid_constant__ tensor_map from, unsigned short *y) {
   __shared__ __align__(128) unsigned short room[512];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 1024);
      asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                   :: "r"(ROOM(room)), "l"(&from), "r"(FIRST), "r"(-1), "r"(2), "r"(0), "r"(ROOM(&full)), "h"((short)1), "h"((short)1) : "memory");
   }
   __syncthreads();
   bar_wait(&full, 0);
   y[t] = room[t];
}
