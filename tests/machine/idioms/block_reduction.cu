// why: a tree over shared memory needs a barrier at every level
// buffer: x in f32 1000 noise
// buffer: y out f32 4
// launch: block_sum grid=4 block=256 args=x,y,1000
// expect: pass
// broken: reject race.shared
extern "C" __global__ void block_sum(const float *x, float *y, int n) {
   __shared__ float s[256];
   int i = blockIdx.x * 256 + threadIdx.x;
   s[threadIdx.x] = i < n ? x[i] : 0.0f;
   __syncthreads();
   for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half)
         s[threadIdx.x] += s[threadIdx.x + half];
#ifndef BROKEN
      __syncthreads();
#endif
   }
   if (threadIdx.x == 0)
      y[blockIdx.x] = s[0];
}
