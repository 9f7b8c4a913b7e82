// why: lanes that go round a barrier and leave are not missed by it, and still the condition must be the block's own
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: go_round grid=1 block=64 args=x,y,1
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void go_round(const float *x, float *y, int on) {
   int t = threadIdx.x;
   float v = x[t];
#ifndef BROKEN
   if (on)
#else
   if (t % 32 < 7)
#endif
      __syncthreads();
   y[t] = v * 2;
}
