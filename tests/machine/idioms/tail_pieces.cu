// why: tiles by cp.async in pieces of 16 bytes, of which those behind a row's last term are zeros that the thread stores itself; the broken twin
// why: stores none, and the products read what was never written
// buffer: a in bf16 768 noise
// buffer: b in bf16 384 noise
// buffer: y out f32 128
// launch: product grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject memory.uninitialised
#include "tail_products.cuh"
__device__ __forceinline__ void take_piece(unsigned short *to, const unsigned short *from, bool inside) {
   if (inside)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory");
#ifndef BROKEN
   else
      *reinterpret_cast<uint4 *>(to) = make_uint4(0, 0, 0, 0);
#endif
}
extern "C" __global__ void product(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(16) unsigned short sa[3][256], sb[3][128];
   const int row = threadIdx.x / 2, piece = threadIdx.x % 2 * 8;
   float d[4] = {0, 0, 0, 0};
   for (int tile = 0; tile < 3; tile++) {
      const int k = tile * 16 + piece;
      take_piece(&sa[tile][row * 16 + piece], &a[row * PITCH + k], k < TERMS);
      if (row < 8)
         take_piece(&sb[tile][row * 16 + piece], &b[row * PITCH + k], k < TERMS);
      asm volatile("cp.async.commit_group;" ::: "memory");
   }
   asm volatile("cp.async.wait_group 0;" ::: "memory");
   __syncwarp();
   for (int tile = 0; tile < 3; tile++)
      add_tile(d, sa[tile], sb[tile]);
   leave_sums(y, d, a, b);
}
