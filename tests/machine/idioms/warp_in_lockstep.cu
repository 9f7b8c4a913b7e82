// why: the steps of a warp's reduction through volatile shared memory need __syncwarp() between them: since Volta nothing keeps the lanes together
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: warp_share grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#ifdef BROKEN
#define STEP()
#else
#define STEP() __syncwarp()
#endif
extern "C" __global__ void warp_share(const float *x, float *y) {
   __shared__ volatile float s[64];
   int lane = threadIdx.x % 32, first = threadIdx.x - lane;
   s[threadIdx.x] = x[threadIdx.x];
   STEP();
   for (int half = 16; half > 0; half /= 2) {
      float other = lane < half ? s[threadIdx.x + half] : 0;
      STEP();
      if (lane < half)
         s[threadIdx.x] += other;
      STEP();
   }
   y[threadIdx.x] = s[first];
}
