// why: a thread reads a word relaxed and has its fence behind that: it knows what the word told when it was read; in the broken one the word is released
// why: anew between the read and the fence, and another word without an order says so
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#define AT(p) "r"((unsigned)__cvta_generic_to_shared(p))
__device__ __forceinline__ unsigned look(unsigned *at) {
   unsigned n;
   asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(n) : AT(at) : "memory");
   return n;
}
__device__ __forceinline__ void say(unsigned *to, unsigned n) { asm volatile("st.relaxed.cta.shared.u32 [%0], %1;" :: AT(to), "r"(n) : "memory"); }
__device__ __forceinline__ void tell(unsigned *to, unsigned n) { asm volatile("st.release.cta.shared.u32 [%0], %1;" :: AT(to), "r"(n) : "memory"); }
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ float first, second;
   __shared__ unsigned ready, seen, go;
   const int t = threadIdx.x;
   if (t == 0)
      ready = seen = go = 0;
   __syncthreads();
   if (t == 0) {
      first = x[0];
      tell(&ready, 1);
      while (look(&seen) != 1)
         ;
      second = x[1];
      tell(&ready, 2);
      say(&go, 1);
   }
   if (t == 32) {
      while (look(&ready) < 1)
         ;
      say(&seen, 1);
#ifndef BROKEN
      while (look(&ready) < 2)
#else
      while (look(&go) < 1)
#endif
         ;
      asm volatile("fence.acq_rel.cta;" ::: "memory");
      y[0] = first + second;
   }
   __syncwarp();
   if (t)
      y[t] = x[t];
}
