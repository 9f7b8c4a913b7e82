// why: nine copies of pixels (im2col) bring what a convolution of three by three multiplies with, border and next image too; the broken one asks
// why: for a box of a map of pixels
// buffer: x in f32 3840 ramp
// buffer: y out f32 576
// map: pixels x f32 dims=16,8,6,5 strides=64,512,3072 lower=-1,-1 upper=-1,-1 channels=8 pixels=64
// launch: columns grid=1 block=64 args=pixels,y
// expect: pass
// broken: reject plan.argument
#include "tensor_maps.cuh"
extern "C" __global__ void columns(const __grid_constant__ tensor_map pixels, float *y) {
   __shared__ __align__(128) float room[9][64][8];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   __syncthreads();
   if (threadIdx.x == 0) {
      bar_expect(&full, sizeof room);
      for (int n = 0; n < 9; n++) {
         const unsigned short across = n % 3, down = n / 3;
#ifdef BROKEN
         asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
                      :: "r"(ROOM(room[n])), "l"(&pixels), "r"(8), "r"(across - 1), "r"(down + 1), "r"(1), "r"(ROOM(&full)) : "memory");
#else
         asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                      :: "r"(ROOM(room[n])), "l"(&pixels), "r"(8), "r"(2), "r"(1), "r"(1), "r"(ROOM(&full)), "h"(across), "h"(down) : "memory");
#endif
      }
   }
   bar_wait(&full, 0);
   const int first = 1 * 48 + 2 * 8 + 3, at = first + threadIdx.x; // output pixels: 48 an image, 8 a row, and the box begins one before
   const int image = at / 48, row = at % 48 / 8, column = at % 8;
   for (int n = 0; n < 9; n++)
      for (int c = 0; c < 8; c++) {
         const int h = row + n / 3 - 1, w = column + n % 3 - 1;
         const bool inside = image < 5 && h >= 0 && h < 6 && w >= 0 && w < 8;
         const float want = inside ? (float)((((image * 6 + h) * 8 + w) * 16 + 8 + c) % 97) : 0; // the ramp counts to 96 and begins again
         if (room[n][threadIdx.x][c] != want)
            asm volatile("trap;");
      }
   for (int n = 0; n < 9; n++)
      y[n * 64 + threadIdx.x] = room[n][threadIdx.x][0];
}
