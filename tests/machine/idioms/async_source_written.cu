// why: until it is waited for, a copy may still be reading: its source stays as it is so long
// buffer: x inout f32 128 noise
// buffer: y out f32 128
// launch: moved grid=1 block=32 args=x,y
// expect: pass
// broken: reject race.async
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
extern "C" __global__ void moved(float *x, float *y) {
   __shared__ __align__(16) float room[128];
   const int t = threadIdx.x;
   COPY(&room[4 * t], x + 4 * t);
   COMMIT();
#ifdef BROKEN
   x[4 * t] = 0;
   WAIT(0);
#else
   WAIT(0);
   x[4 * t] = 0;
#endif
   for (int n = 0; n < 4; n++)
      y[4 * t + n] = room[4 * t + n];
}
