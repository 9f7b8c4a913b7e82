// why: two threads may write the two halves of one word
// buffer: y out f16 256
// launch: fill grid=1 block=256 args=y
// expect: pass
// broken: reject race.shared
#include <cuda_fp16.h>
extern "C" __global__ void fill(__half *y) {
   __shared__ __half s[256];
   int t = threadIdx.x;
   s[t] = __float2half((float)t);
#ifdef BROKEN
   y[t] = s[t ^ 1];
#else
   y[t] = s[t];
#endif
}
