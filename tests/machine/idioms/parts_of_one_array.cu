// why: one array of bytes, a static one before it, taken apart by offsets: what is one object may be walked through as one; past
// why: the end of what the launch gave it may not
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: parts grid=1 block=64 shared=528 args=x,y
// expect: pass
// broken: reject memory.out_of_bounds
extern __shared__ unsigned char room[];
extern "C" __global__ void parts(const float *x, float *y) {
   __shared__ float scale[3];
   float *low = (float *)room, *high = low + 66;
   const int t = threadIdx.x;
   if (t < 3)
      scale[t] = 1.5f;
   low[t] = x[t];
#ifdef BROKEN
   high[t + 4] = x[t];
#else
   high[t + 2] = x[t];
#endif
   __syncthreads();
   y[t] = (low[63 - t] + low[66 + 2 + t]) * scale[t % 3];
}
