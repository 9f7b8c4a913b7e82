// why: tiles that threads fill a number at a time, with zeros behind a row's last term; in the broken twin these places keep what the tile before
// why: left there
// buffer: a in bf16 768 noise
// buffer: b in bf16 384 noise
// buffer: y out f32 128
// launch: product grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject plan.trap
#include "tail_products.cuh"
template <int rows> __device__ __forceinline__ void fill_tile(unsigned short *to, const unsigned short *from, int k) {
   for (int n = threadIdx.x; n < rows * 16; n += 32) {
      const int row = n / 16, column = n % 16;
#ifndef BROKEN
      to[row * 16 + column] = k + column < TERMS ? from[row * PITCH + k + column] : 0;
#else
      if (k + column < TERMS)
         to[row * 16 + column] = from[row * PITCH + k + column];
#endif
   }
}
extern "C" __global__ void product(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(16) unsigned short sa[256], sb[128];
   float d[4] = {0, 0, 0, 0};
   for (int k = 0; k < TERMS; k += 16) {
      fill_tile<16>(sa, a, k);
      fill_tile<8>(sb, b, k);
      __syncwarp();
      add_tile(d, sa, sb);
      __syncwarp();
   }
   leave_sums(y, d, a, b);
}
