// why: a grid-stride loop covers what is left over; with <= it goes one too far
// buffer: x in f32 1000 noise
// buffer: y out f32 1000
// launch: square grid=3 block=128 args=x,y,1000
// expect: pass
// broken: reject memory.out_of_bounds
extern "C" __global__ void square(const float *x, float *y, int n) {
#ifdef BROKEN
   for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += gridDim.x * blockDim.x)
#else
   for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
#endif
      y[i] = x[i] * x[i];
}
