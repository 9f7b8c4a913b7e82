// why: a volatile word tells another warp that values are there, between fences of the block: volatile accesses are as strong as relaxed ones; the
// why: broken one has no fence in front of the word
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ float values[64];
   __shared__ volatile unsigned ready;
   const int t = threadIdx.x;
   if (t == 0)
      ready = 0;
   __syncthreads();
   values[t] = x[t];
   if (t < 32) {
#ifndef BROKEN
      __threadfence_block();
#endif
      __syncwarp();
      if (t == 0)
         ready = 1;
      y[t] = values[31 - t];
   } else {
      if (t == 32)
         while (ready == 0)
            ;
      __threadfence_block();
      __syncwarp();
      y[t] = values[63 - t];
   }
}
