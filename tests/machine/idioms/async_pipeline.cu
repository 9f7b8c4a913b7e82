// why: two buffers: while one is worked on, the other is filled; all but the newest group are waited for, one more left open
// why: is one too many
// buffer: x in f32 2048 noise
// buffer: y out f32 256
// launch: pipeline grid=2 block=64 args=x,y
// expect: pass
// broken: reject race.async
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
#ifndef BROKEN
#define OPEN 1
#else
#define OPEN 2
#endif
extern "C" __global__ void pipeline(const float *x, float *y) {
   __shared__ __align__(16) float room[2][256];
   const int t = threadIdx.x;
   x += blockIdx.x * 1024;
   float sum[2] = {0, 0};
   COPY(&room[0][4 * t], x + 4 * t);
   COMMIT();
   for (int k = 0; k < 4; k++) {
      if (k < 3)
         COPY(&room[(k + 1) % 2][4 * t], x + (k + 1) * 256 + 4 * t);
      COMMIT();
      WAIT(OPEN);
      __syncthreads();
      sum[0] += room[k % 2][255 - t];
      sum[1] += room[k % 2][t];
      __syncthreads();
   }
   y[blockIdx.x * 128 + t] = sum[0];
   y[blockIdx.x * 128 + 64 + t] = sum[1];
}
