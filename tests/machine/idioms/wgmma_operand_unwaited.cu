// why: a warp fills two buffers in turn by asynchronous copies for products of a warpgroup; the broken one tells of its last copies before it has waited
// why: for them, and the buffer was right before
// buffer: a in f16 4096 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=160 args=a,b,y
// expect: pass
// broken: reject race.async
#include "warpgroups.cuh"
#define STEPS 4
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sa[2][1024], sb[256];
   __shared__ unsigned long long full[2], empty[2];
   const int t = threadIdx.x;
   if (t < 2) {
      bar_init(&full[t], 32);
      bar_init(&empty[t], 1);
   }
   if (t < 128)
      fill(sb, b, 16);
   proxy_fence();
   __syncthreads();
   if (t >= 128) {
      for (int i = 0; i < STEPS; i++) {
         const int s = i & 1;
         bar_wait(&empty[s], (i >> 1 & 1) ^ 1);
         for (int n = t - 128; n < 128; n += 32) /* eight halves of row n / 2 */
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"(ROOM(&sa[s][plain_place(n / 2, n % 2 * 8, 64)])), "l"(a + i * 1024 + n * 8) : "memory");
#ifdef BROKEN
         if (i + 1 < STEPS)
#endif
            asm volatile("cp.async.wait_all;" ::: "memory");
         proxy_fence();
         bar_arrive(&full[s]);
      }
      return;
   }
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   for (int i = 0; i < STEPS; i++) {
      const int s = i & 1;
      bar_wait(&full[s], i >> 1 & 1);
      hold(d);
      group_fence();
      multiply<1>(d, plain(sa[s], 64), plain(sb, 16));
      group_commit();
      group_wait<0>();
      hold(d);
      if (t == 0)
         bar_arrive(&empty[s]);
   }
   leave(y, d);
}
