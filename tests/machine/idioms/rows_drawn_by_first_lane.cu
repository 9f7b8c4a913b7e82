// why: a warp's first lane draws the next row and a shuffle tells it to the others; some lanes leave the loop over a row one turn earlier
// buffer: x in f32 640 noise
// buffer: next scratch i32 1 zero
// buffer: y out f32 640
// launch: rows grid=1 block=64 args=x,next,y
// expect: pass
// broken: reject sync.warp
extern "C" __global__ void rows(const float *x, int *next, float *y) {
   const int lane = threadIdx.x % 32;
   for (;;) {
      int row = 0;
      if (lane == 0)
         row = atomicAdd(next, 1);
      row = __shfl_sync(0xffffffffu, row, 0);
      if (row >= 16)
         break;
      for (int i = lane; i < 40; i += 32) {
         y[row * 40 + i] = 2.0f * x[row * 40 + i];
#ifdef BROKEN
         y[row * 40 + i] += __shfl_sync(0xffffffffu, 0.0f, 0);
#endif
      }
   }
}
