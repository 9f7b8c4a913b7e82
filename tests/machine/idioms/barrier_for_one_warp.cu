// why: the same, for a whole warp, with work after the barrier that both do
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: one_warp grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void one_warp(const float *x, float *y) {
   __shared__ float s[32];
   int t = threadIdx.x;
   if (t < 32)
      s[t] = x[t];
#ifdef BROKEN
   if (t < 32)
#endif
      __syncthreads();
   y[t] = t < 32 ? s[31 - t] : x[t];
}
