// why: a word of which one half was written is no value: definedness goes by the byte
// buffer: x in f32 32 noise
// buffer: y out i32 32
// launch: halves grid=1 block=32 args=x,y
// expect: pass
// broken: reject memory.uninitialised
extern "C" __global__ void halves(const float *x, int *y) {
   __shared__ unsigned words[32];
   unsigned short *parts = (unsigned short *)words;
   const int t = threadIdx.x;
   parts[2 * t] = (unsigned short)(x[t] * 100.0f);
#ifndef BROKEN
   parts[2 * t + 1] = 1;
#endif
   __syncthreads();
   y[t] = words[31 - t];
}
