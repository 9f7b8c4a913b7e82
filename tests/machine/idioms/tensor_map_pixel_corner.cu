// why: the box of pixels (im2col) of a convolution of three by three begins one before the image, and the copy comes to the next row from there; the
// why: lower corner of the broken one's map is the image's own, so that rows are taken one pixel too late
// buffer: x in f32 3840 ramp
// buffer: y out f32 512
// map: pixels x f32 dims=16,8,6,5 strides=64,512,3072 lower=-1,-1 upper=-1,-1 channels=8 pixels=64
// map: later x f32 dims=16,8,6,5 strides=64,512,3072 lower=0,-1 upper=-1,-1 channels=8 pixels=64
// launch: columns grid=1 block=64 args=pixels,later,y
// expect: pass
// broken: reject plan.trap
#include "tensor_maps.cuh"
extern "C" __global__ void columns(const __grid_constant__ tensor_map pixels, const __grid_constant__ tensor_map later, float *y) {
   __shared__ __align__(128) float room[64][8];
   __shared__ unsigned long long full;
#ifndef BROKEN
   const tensor_map *map = &pixels;
#else
   const tensor_map *map = &later;
#endif
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, sizeof room);
      asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {0, 2, 1, 4}], [%2], {%3, %4};"
                   :: "r"(ROOM(room)), "l"(map), "r"(ROOM(&full)), "h"((unsigned short)2), "h"((unsigned short)1) : "memory");
   }
   __syncthreads();
   bar_wait(&full, 0);
   const int at = 4 * 48 + 2 * 8 + 3 + threadIdx.x, image = at / 48, h = at % 48 / 8, w = at % 8 + 1; // the right neighbours of output pixels
   for (int c = 0; c < 8; c++) {
      const float want = image < 5 && w < 8 ? (float)((((image * 6 + h) * 8 + w) * 16 + c) % 97) : 0; // no image follows the last one
      if (room[threadIdx.x][c] != want)
         __trap();
      y[threadIdx.x * 8 + c] = want;
   }
}
