// why: two copies to one place are in no order, though one thread started both
// buffer: x in f32 256 noise
// buffer: y out f32 32
// launch: twice grid=1 block=32 args=x,y
// expect: pass
// broken: reject race.async
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
extern "C" __global__ void twice(const float *x, float *y) {
   __shared__ __align__(16) float room[256];
   const int t = threadIdx.x;
   COPY(&room[4 * t], x + 4 * t);
#ifndef BROKEN
   COPY(&room[128 + 4 * t], x + 128 + 4 * t);
#else
   COPY(&room[4 * t], x + 128 + 4 * t);
   room[128 + 4 * t] = 0;
#endif
   COMMIT();
   WAIT(0);
   y[t] = room[4 * t] + room[128 + 4 * t];
}
