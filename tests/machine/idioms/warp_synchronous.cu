// why: lanes of a warp that talk through shared memory need __syncwarp() between the steps
// buffer: x in f32 64 noise
// buffer: y out f32 2
// launch: warp_sum grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void warp_sum(const float *x, float *y) {
   __shared__ float s[64];
   int lane = threadIdx.x % 32;
   float *mine = s + threadIdx.x - lane;
   mine[lane] = x[threadIdx.x];
   __syncwarp();
   for (int half = 16; half > 0; half /= 2) {
      float other = lane < half ? mine[lane + half] : 0;
      __syncwarp();
      if (lane < half)
         mine[lane] += other;
#ifndef BROKEN
      __syncwarp();
#endif
   }
   if (lane == 0)
      y[threadIdx.x / 32] = mine[0];
}
