// why: a ring of tiles by cp.async, whose source has nothing behind a row's last term: the size says so, and zeros follow; the broken twin copies
// why: numbers that are no terms
// buffer: a in bf16 768 noise
// buffer: b in bf16 384 noise
// buffer: y out f32 128
// launch: product grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject plan.trap
#include "tail_products.cuh"
__device__ __forceinline__ void copy_piece(unsigned short *to, const unsigned short *from, int bytes) {
#ifndef BROKEN
   asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(ROOM(to)), "l"(from), "r"(bytes) : "memory");
#else
   asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory");
#endif
}
extern "C" __global__ void product(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(16) unsigned short sa[2][256], sb[2][128];
   float d[4] = {0, 0, 0, 0};
   for (int step = 0, k = 0; k - 16 < TERMS; step++, k += 16) {
      const int row = threadIdx.x / 2, piece = threadIdx.x % 2 * 8, bytes = k + piece < TERMS ? 16 : 0;
      if (k < TERMS) {
         copy_piece(&sa[step % 2][row * 16 + piece], &a[row * PITCH + k + piece], bytes);
         if (row < 8)
            copy_piece(&sb[step % 2][row * 16 + piece], &b[row * PITCH + k + piece], bytes);
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
      asm volatile("cp.async.wait_group 1;" ::: "memory");
      __syncwarp();
      if (step > 0)
         add_tile(d, sa[(step - 1) % 2], sb[(step - 1) % 2]);
      __syncwarp();
   }
   leave_sums(y, d, a, b);
}
