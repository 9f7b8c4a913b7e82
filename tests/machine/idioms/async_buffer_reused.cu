// why: a buffer is filled again when all have read it: the barrier after the reading is as needed as the one before
// buffer: x in f32 1024 noise
// buffer: y out f32 64
// launch: sums grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
extern "C" __global__ void sums(const float *x, float *y) {
   __shared__ __align__(16) float room[256];
   const int t = threadIdx.x;
   float sum = 0;
   for (int k = 0; k < 4; k++) {
      COPY(&room[4 * t], x + 256 * k + 4 * t);
      COMMIT();
      WAIT(0);
      __syncthreads();
      sum += room[255 - t];
#ifndef BROKEN
      __syncthreads();
#endif
   }
   y[t] = sum;
}
