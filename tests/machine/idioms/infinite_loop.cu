// why: a loop whose bound is never reached does not end
// buffer: y out i32 32
// launch: count grid=1 block=32 args=y,7
// expect: pass
// broken: reject sync.deadlock
extern "C" __global__ void count(int *y, int step) {
   volatile int i = 0;
#ifdef BROKEN
   while (i != 20 * step + 1)
#else
   while (i != 20 * step)
#endif
      i += step;
   y[threadIdx.x] = i;
}
