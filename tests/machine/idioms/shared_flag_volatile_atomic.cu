// why: the warp that waits comes first and polls a volatile word, to which another warp adds atomically behind a fence; in the broken one there is none
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ float values[64];
   __shared__ unsigned ready;
   const int t = threadIdx.x;
   if (t == 0)
      ready = 0;
   __syncthreads();
   values[t] = x[t];
   if (t >= 32) {
#ifndef BROKEN
      __threadfence_block();
#endif
      __syncwarp();
      if (t == 32)
         atomicAdd(&ready, 1);
      y[t] = values[63 - (t - 32)];
   } else {
      if (t == 0)
         while (*(volatile unsigned *)&ready == 0)
            ;
      __threadfence_block();
      __syncwarp();
      y[t] = values[63 - t];
   }
}
