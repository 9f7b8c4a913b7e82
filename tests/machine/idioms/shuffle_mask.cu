// why: only lanes that come to a shuffle may be named in its mask
// buffer: x in f32 32 noise
// buffer: y out f32 32
// launch: shift grid=1 block=32 args=x,y
// expect: pass
// broken: reject sync.warp
extern "C" __global__ void shift(const float *x, float *y) {
   int t = threadIdx.x;
   float v = x[t];
   if (t < 16) {
#ifdef BROKEN
      v += __shfl_down_sync(0xffffffffu, v, 8);
#else
      v += __shfl_down_sync(0x0000ffffu, v, 8, 16);
#endif
      y[t] = v;
   } else {
      y[t] = v * 3;
   }
}
