// why: past the end of a row zeros are copied instead: the source's size says how much there is, and a predicate that there is nothing
// buffer: x in f32 70 noise
// buffer: y out f32 256
// launch: tail grid=1 block=32 args=x,y
// expect: pass
// broken: reject memory.out_of_bounds
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
extern "C" __global__ void tail(const float *x, float *y) {
   __shared__ __align__(16) float room[256];
   const int t = threadIdx.x, left = 70 - 4 * t, bytes = left >= 4 ? 16 : left > 0 ? 4 * left : 0;
#ifdef BROKEN
   COPY(&room[4 * t], x + 4 * t);
#else
   asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(ROOM(&room[4 * t])), "l"(x + 4 * t), "r"(bytes) : "memory");
#endif
   asm volatile("{ .reg .pred p; setp.ge.s32 p, %2, 20; cp.async.ca.shared.global [%0], [%1], 8, p; }"
                :: "r"(ROOM(&room[128 + 2 * t])), "l"(x + 2 * t), "r"(t) : "memory");
   asm volatile("{ .reg .pred p; setp.ge.s32 p, %2, 20; @!p cp.async.ca.shared.global [%0], [%1], 4; }"
                :: "r"(ROOM(&room[192 + t])), "l"(x + t), "r"(t) : "memory");
   if (t >= 20)
      room[192 + t] = 7;
   room[224 + t] = 1;
   asm volatile("cp.async.wait_all;" ::: "memory");
   __syncthreads();
   for (int n = t; n < 256; n += 32) {
      const float want = n < 128   ? (n < 70 ? x[n] : 0)
                         : n < 192 ? (n - 128 < 40 ? x[n - 128] : 0)
                         : n < 224 ? (n - 192 < 20 ? x[n - 192] : 7)
                                   : 1;
      if (room[n] != want)
         __trap();
      y[n] = room[n];
   }
}
