// why: a condition that guards a barrier and nothing else is no early return, whether part of a warp or a whole one goes round
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: few grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void few(const float *x, float *y) {
   y[threadIdx.x] = x[threadIdx.x];
#ifdef BROKEN
   if (threadIdx.x < 7)
#endif
      __syncthreads();
}
