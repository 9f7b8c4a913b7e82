// why: copying bytes nobody wrote is innocent as long as nothing depends on them
// buffer: x in f32 100 noise
// buffer: y out f32 100
// launch: copy grid=1 block=32 args=x,y,100
// expect: pass
// broken: reject memory.uninitialised
extern "C" __global__ void copy(const float *x, float *y, int n) {
   __shared__ float s[128], r[128];
   int t = threadIdx.x;
   for (int i = t; i < n; i += 32)
      s[i] = x[i];
   __syncwarp();
   for (int i = t; i < 128; i += 32)
      r[i] = s[i] * 2;
   __syncwarp();
   for (int i = t; i < n; i += 32)
#ifdef BROKEN
      y[i] = r[i + 1];
#else
      y[i] = r[i];
#endif
}
