// why: not even the thread that started a copy may read what it brings before it has waited
// buffer: x in f32 128 noise
// buffer: y out f32 128
// launch: own grid=1 block=32 args=x,y
// expect: pass
// broken: reject race.async
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
extern "C" __global__ void own(const float *x, float *y) {
   __shared__ __align__(16) float room[128];
   const int t = threadIdx.x;
   COPY(&room[4 * t], x + 4 * t);
#ifdef BROKEN
   COMMIT();
   WAIT(1);
#else
   COMMIT();
   WAIT(0);
#endif
   for (int n = 0; n < 4; n++)
      y[4 * t + n] = room[4 * t + n];
}
