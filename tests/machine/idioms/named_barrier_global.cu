// why: warps hand rows of global memory over at a barrier of theirs; a warp that did not take part is in no order with them
// buffer: x in f32 96 noise
// buffer: rows scratch f32 96
// buffer: y out f32 96
// launch: hand_over grid=1 block=96 args=x,rows,y
// expect: pass
// broken: reject race.global
extern "C" __global__ void hand_over(const float *x, float *rows, float *y) {
   int t = threadIdx.x, warp = t / 32, lane = t % 32;
   rows[t] = x[t];
#ifdef BROKEN
   if (warp < 2)
      asm volatile("bar.sync 3, 64;" ::: "memory");
   y[t] = rows[32 * ((warp + 1) % 3) + 31 - lane];
#else
   if (warp < 2) {
      asm volatile("bar.sync 3, 64;" ::: "memory");
      y[t] = rows[32 * (1 - warp) + 31 - lane];
   } else {
      y[t] = rows[t];
   }
#endif
}
