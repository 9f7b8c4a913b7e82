// why: one warp fills a buffer and another takes from it, by two volatile counters, each behind a fence; in the broken one the counter of what was
// why: taken has none behind the reads
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ float values[32];
   __shared__ volatile int filled, taken;
   const int t = threadIdx.x, lane = t % 32;
   if (t == 0)
      filled = taken = 0;
   __syncthreads();
   for (int i = 0; i < 8; i++) {
      if (t < 32) {
         if (lane == 0)
            while (taken < i)
               ;
         __threadfence_block();
         __syncwarp();
         values[lane] = x[32 * i + lane];
         __threadfence_block();
         __syncwarp();
         if (lane == 0)
            filled = i + 1;
      } else {
         if (lane == 0)
            while (filled < i + 1)
               ;
         __threadfence_block();
         __syncwarp();
         y[32 * i + lane] = values[31 - lane];
#ifndef BROKEN
         __threadfence_block();
#endif
         __syncwarp();
         if (lane == 0)
            taken = i + 1;
      }
   }
}
