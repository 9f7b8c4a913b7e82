// why: a fence for the block alone orders nothing for other blocks
// buffer: x in f32 1024 noise
// buffer: partial scratch f32 4
// buffer: count scratch i32 1 zero
// buffer: y out f32 1
// launch: sum grid=4 block=64 args=x,partial,count,y,1024
// runs: 2
// expect: pass
// broken: reject race.global
extern "C" __global__ void sum(const float *x, float *partial, unsigned *count, float *y, int n) {
   __shared__ float s[64];
   __shared__ bool last;
   float total = 0;
   for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 256)
      total += x[i];
   s[threadIdx.x] = total;
   __syncthreads();
   for (int half = 32; half > 0; half /= 2) {
      if (threadIdx.x < half)
         s[threadIdx.x] += s[threadIdx.x + half];
      __syncthreads();
   }
   if (threadIdx.x == 0) {
      partial[blockIdx.x] = s[0];
#ifdef BROKEN
      __threadfence_block();
#else
      __threadfence();
#endif
      last = atomicAdd(count, 1) == gridDim.x - 1;
   }
   __syncthreads();
   if (last && threadIdx.x == 0) {
      float all = 0;
      for (int b = 0; b < gridDim.x; b++)
         all += partial[b];
      *y = all;
   }
}
