// why: what a kernel computes from a clock is never the same twice
// buffer: y out i32 32
// launch: stamp grid=1 block=32 args=y
// expect: pass
// broken: suspect environment.clock
extern "C" __global__ void stamp(int *y) {
#ifdef BROKEN
   y[threadIdx.x] = (int)clock();
#else
   y[threadIdx.x] = threadIdx.x;
#endif
}
