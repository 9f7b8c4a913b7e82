// why: a wait is for a thread's own copies; what others copied is there after a barrier
// buffer: x in f32 256 noise
// buffer: y out f32 64
// launch: reversed grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
extern "C" __global__ void reversed(const float *x, float *y) {
   __shared__ __align__(16) float room[256];
   const int t = threadIdx.x;
   COPY(&room[4 * t], x + 4 * t);
   asm volatile("cp.async.wait_all;" ::: "memory");
#ifndef BROKEN
   __syncthreads();
#endif
   y[t] = room[255 - t];
}
