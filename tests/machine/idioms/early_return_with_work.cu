// why: a warp or some lanes with nothing to do write their result and leave before the barriers of a loop; a loop whose
// why: length differs from thread to thread may hold none
// buffer: x in f32 96 noise
// buffer: y out f32 96
// buffer: left out i32 96
// launch: rounds grid=1 block=96 args=x,y,left,40,3
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void rounds(const float *x, float *y, int *left, int n, int rounds) {
   __shared__ float s[96];
   int t = threadIdx.x;
#ifndef BROKEN
   left[t] = t >= n;
   if (t >= n) {
      y[t] = -1;
      return;
   }
   const int mine = rounds;
#else
   const int mine = t >= n ? 1 : rounds;
#endif
   float v = x[t];
   for (int i = 0; i < mine; i++) {
      s[t] = v;
      __syncthreads();
      v += s[n - 1 - t % n];
      __syncthreads();
   }
#ifdef BROKEN
   left[t] = t >= n;
#endif
   y[t] = v;
}
