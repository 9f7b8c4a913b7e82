// why: code for warps in lockstep: volatile shared memory without __syncwarp(), several lanes reading what one wrote; it runs on every device so far and no compiler promises it
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: warp_share grid=1 block=64 args=x,y
// expect: suspect race.shared
// broken: reject race.shared
extern "C" __global__ void warp_share(const float *x, float *y) {
   __shared__ volatile float s[64];
   int lane = threadIdx.x % 32, first = threadIdx.x - lane;
   s[threadIdx.x] = x[threadIdx.x];
   for (int half = 16; half > 0; half /= 2)
      if (lane < half)
         s[threadIdx.x] += s[threadIdx.x + half];
#ifdef BROKEN
   y[threadIdx.x] = s[0];
#else
   float sum = s[first];
   if (lane == 3)
      s[first] = sum * 2;
   y[threadIdx.x] = s[first];
#endif
}
