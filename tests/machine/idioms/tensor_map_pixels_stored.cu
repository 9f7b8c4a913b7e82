// why: a tile of pixels is stored through a map of pixels (im2col_no_offs), a row of the image after the other; the broken one does not fence
// why: what its threads wrote before the copy reads it
// buffer: x in f32 512 ramp
// buffer: y out f32 512 zero
// map: pixels y f32 dims=8,8,8 strides=32,256 lower=0 upper=0 channels=8 pixels=64
// launch: turn grid=1 block=64 args=pixels,x
// expect: pass
// broken: reject race.proxy
#include "tensor_maps.cuh"
extern "C" __global__ void turn(const __grid_constant__ tensor_map pixels, const float *x) {
   __shared__ __align__(128) float room[64][8];
   for (int c = 0; c < 8; c++)
      room[threadIdx.x][c] = x[threadIdx.x * 8 + 7 - c];
#ifndef BROKEN
   proxy_fence();
#endif
   __syncthreads();
   if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%1, %2, %3}], [%4];"
                   :: "l"(&pixels), "r"(0), "r"(0), "r"(0), "r"(ROOM(room)) : "memory");
      bulk_commit();
      bulk_wait<0>();
   }
}
