// why: threads that left are not waited for, threads that go round a barrier are
// buffer: x in f32 40 noise
// buffer: y out f32 40
// launch: turn grid=1 block=64 args=x,y,40
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void turn(const float *x, float *y, int n) {
   __shared__ float s[64];
   int t = threadIdx.x;
#ifndef BROKEN
   if (t >= n)
      return;
   s[t] = x[t];
   __syncthreads();
#else
   if (t < n) {
      s[t] = x[t];
      __syncthreads();
   } else {
      s[t] = 0;
      __syncthreads();
   }
#endif
   if (t < n)
      y[t] = s[n - 1 - t];
}
