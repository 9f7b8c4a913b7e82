// why: a grid rounded down leaves the last elements unwritten
// buffer: x in f32 1000 noise
// buffer: y out f32 1000
// launch: square grid=4 block=256 args=x,y,1000
// expect: pass
// broken: reject output.unwritten
extern "C" __global__ void square(const float *x, float *y, int n) {
   int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BROKEN
   n = n / 256 * 256;
#endif
   if (i < n)
      y[i] = x[i] * x[i];
}
