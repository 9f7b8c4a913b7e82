// why: what pads a tile is read and multiplied only when it was cleared; selecting zero instead is as good
// buffer: x in f32 100 noise
// buffer: y out f32 1
// launch: sum grid=1 block=128 args=x,y,100
// expect: pass
// broken: reject memory.uninitialised
extern "C" __global__ void sum(const float *x, float *y, int n) {
   __shared__ float s[128];
   int t = threadIdx.x;
#ifdef BROKEN
   if (t < n)
      s[t] = x[t];
#else
   s[t] = t < n ? x[t] : 0.0f;
#endif
   __syncthreads();
   if (t == 0) {
      float total = 0;
      for (int i = 0; i < 128; i++)
         total += s[i];
      *y = total;
   }
}
