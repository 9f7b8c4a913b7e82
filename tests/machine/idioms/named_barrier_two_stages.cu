// why: a ring of two stages with a full and an empty barrier each; without waiting for empty the second round may arrive in the phase of the first
// buffer: x in f32 192 noise
// buffer: y out f32 192
// launch: ring grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void ring(const float *x, float *y) {
#ifdef BROKEN
   __shared__ float s[6][32]; /* no place is used twice, so nothing but the barriers is wrong */
#else
   __shared__ float s[2][32];
#endif
   int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   for (int n = 0; n < 6; n++) {
#ifdef BROKEN
      float *stage = s[n];
#else
      float *stage = s[n % 2];
#endif
      if (warp == 0) {
#ifndef BROKEN
         if (n >= 2)
            asm volatile("bar.sync %0, 64;" ::"r"(3 + n % 2) : "memory");
#endif
         stage[lane] = x[32 * n + lane];
         asm volatile("bar.arrive %0, 64;" ::"r"(1 + n % 2) : "memory");
      } else {
         asm volatile("bar.sync %0, 64;" ::"r"(1 + n % 2) : "memory");
         y[32 * n + lane] = stage[31 - lane];
#ifndef BROKEN
         if (n < 4)
            asm volatile("bar.arrive %0, 64;" ::"r"(3 + n % 2) : "memory");
#endif
      }
   }
}
