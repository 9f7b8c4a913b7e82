// why: two warps meet at different __syncthreads(), as often as each comes; they wait for ever if the last ones have different numbers
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: turns grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.deadlock
#ifndef BROKEN
#define LAST "bar.sync 0;"
#else
#define LAST "bar.sync 1;"
#endif
extern "C" __global__ void turns(const float *x, float *y) {
   __shared__ float room[2][32];
   const int t = threadIdx.x % 32;
   if (threadIdx.x < 32) {
      for (int k = 0; k < 4; k++) {
         room[k % 2][t] = x[t] + k;
         __syncthreads();
      }
      __syncthreads();
      y[t] = room[0][t];
   } else {
      float sum = 0;
      for (int k = 0; k < 4; k++) {
         __syncthreads();
         sum += room[k % 2][31 - t];
      }
      room[0][t] = sum;
      asm volatile(LAST ::: "memory");
      y[32 + t] = sum;
   }
}
