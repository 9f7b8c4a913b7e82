// why: one warp sets a flag, and another one takes what it tells of and sets the flag back, again and again; the broken one sets it back before it has read
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
__device__ __forceinline__ unsigned look(unsigned *at) {
   unsigned n;
   asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(n) : "r"((unsigned)__cvta_generic_to_shared(at)) : "memory");
   return n;
}
__device__ __forceinline__ void tell(unsigned *to, unsigned n) {
   asm volatile("st.release.cta.shared.u32 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "r"(n) : "memory");
}
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ float values[32];
   __shared__ unsigned ready;
   const int t = threadIdx.x, lane = t % 32;
   if (t == 0)
      ready = 0;
   __syncthreads();
   for (int i = 0; i < 8; i++) {
      if (t < 32) {
         while (lane == 0 && look(&ready) != 0)
            ;
         __syncwarp();
         values[lane] = x[32 * i + lane];
         __syncwarp();
         if (lane == 0)
            tell(&ready, 1);
      } else {
         while (lane == 0 && look(&ready) != 1)
            ;
         __syncwarp();
#ifdef BROKEN
         if (lane == 0)
            tell(&ready, 0);
         __syncwarp();
#endif
         y[32 * i + lane] = values[31 - lane];
#ifndef BROKEN
         __syncwarp();
         if (lane == 0)
            tell(&ready, 0);
#endif
      }
   }
}
