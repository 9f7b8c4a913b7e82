// why: one warp fills a tile, two warps read it and arrive at a barrier that the first waits at before it fills the tile again; one that arrives before it reads is too early
// buffer: x in f32 128 noise
// buffer: y out f32 256
// launch: pipeline grid=1 block=96 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void pipeline(const float *x, float *y) {
   __shared__ float s[32];
   int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   for (int n = 0; n < 4; n++) {
      if (warp == 0) {
         if (n > 0)
            asm volatile("bar.sync 2, 96;" ::: "memory");
         s[lane] = x[32 * n + lane];
         asm volatile("bar.arrive 1, 96;" ::: "memory");
      } else {
         asm volatile("bar.sync 1, 96;" ::: "memory");
#ifdef BROKEN
         if (warp == 2 && n < 3)
            asm volatile("bar.arrive 2, 96;" ::: "memory");
#endif
         y[64 * n + 32 * (warp - 1) + lane] = s[31 - lane];
#ifdef BROKEN
         if (warp == 1 && n < 3)
#else
         if (n < 3)
#endif
            asm volatile("bar.arrive 2, 96;" ::: "memory");
      }
   }
}
