// why: one warp copies, another works, and a named barrier hands over: order is followed by clocks there, the copies too
// buffer: x in f32 512 noise
// buffer: y out f32 128
// launch: roles grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
extern "C" __global__ void roles(const float *x, float *y) {
   __shared__ __align__(16) float room[4][128];
   const int t = threadIdx.x, lane = t % 32;
   if (t < 32) {
      for (int k = 0; k < 4; k++) {
         COPY(&room[k][4 * lane], x + 128 * k + 4 * lane);
         COMMIT();
      }
#ifdef BROKEN
      WAIT(1);
#else
      WAIT(0);
#endif
      asm volatile("bar.arrive 1, 64;" ::: "memory");
   } else {
      float sum[4] = {0, 0, 0, 0};
      asm volatile("bar.sync 1, 64;" ::: "memory");
      for (int k = 0; k < 4; k++)
         for (int n = 0; n < 4; n++)
            sum[n] += room[k][127 - 4 * lane - n];
      for (int n = 0; n < 4; n++)
         y[4 * lane + n] = sum[n];
   }
}
