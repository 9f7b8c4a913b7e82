// why: a producing warp and a consuming one pass a buffer to and fro by two counters in shared memory, released and acquired; the broken one acquires the
// why: counter relaxed, with no fence behind it
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
__device__ __forceinline__ unsigned count(unsigned *of) {
   unsigned n;
#ifdef BROKEN
   asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(n) : "r"((unsigned)__cvta_generic_to_shared(of)) : "memory");
#else
   asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(n) : "r"((unsigned)__cvta_generic_to_shared(of)) : "memory");
#endif
   return n;
}
__device__ __forceinline__ void tell(unsigned *of, unsigned n) {
   asm volatile("st.release.cta.shared.u32 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(of)), "r"(n) : "memory");
}
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ float values[32];
   __shared__ unsigned written, read;
   const int t = threadIdx.x, lane = t % 32;
   if (t == 0)
      written = read = 0;
   __syncthreads();
   for (unsigned i = 0; i < 8; i++) {
      if (t < 32) {
         if (lane == 0)
            while (count(&read) != i)
               ;
         __syncwarp();
         values[lane] = x[i * 32 + lane];
         __syncwarp();
         if (lane == 0)
            tell(&written, i + 1);
      } else {
         if (lane == 0)
            while (count(&written) != i + 1)
               ;
         __syncwarp();
         y[i * 32 + lane] = values[31 - lane];
         __syncwarp();
         if (lane == 0)
            tell(&read, i + 1);
      }
   }
}
