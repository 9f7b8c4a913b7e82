// why: the barrier across the grid as libraries write it today, a releasing addition and an acquiring load of one thread of each
// why: block; the twin's are relaxed, and nothing orders what they announce
// buffer: x in f32 256 noise
// buffer: a scratch f32 256
// buffer: b scratch f32 256
// buffer: y out f32 256
// launch: steps grid=4 block=64 args=x,a,b,y
// expect: pass
// broken: reject race.global
__device__ unsigned arrived = 0;
static __device__ void grid_barrier() {
   __syncthreads();
   if (threadIdx.x == 0) {
      unsigned before, now;
#ifdef BROKEN
      asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(&arrived) : "memory");
#else
      asm volatile("atom.add.release.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(&arrived) : "memory");
#endif
      const unsigned all = (before / gridDim.x + 1) * gridDim.x;
      do {
#ifdef BROKEN
         asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(&arrived) : "memory");
#else
         asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(&arrived) : "memory");
#endif
      } while (now < all);
   }
   __syncthreads();
}
extern "C" __global__ void steps(const float *x, float *a, float *b, float *y) {
   const int t = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
   for (int step = 0; step < 3; step++) {
      const float *from = step % 2 ? b : a;
      float *to = step % 2 ? a : b;
      to[t] = step ? from[count - 1 - t] + 1 : x[t];
      grid_barrier();
   }
   y[t] = b[count - 1 - t];
}
