// why: half-warp tiles synchronise among themselves with a mask of their own lanes
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: rotate grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void rotate(const float *x, float *y) {
   __shared__ float s[64];
   int t = threadIdx.x, tile = t / 16 * 16;
   unsigned mask = 0xffffu << (t % 32 / 16 * 16);
   s[t] = x[t];
   __syncwarp(mask);
#ifdef BROKEN
   y[t] = s[(t + 1) % 64];
#else
   y[t] = s[tile + (t + 1) % 16];
#endif
}
