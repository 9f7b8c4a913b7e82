// why: the read-only path is for memory that the launch does not write; a later launch may write it, this one may not, not even behind a barrier
// buffer: x inout f32 64 noise
// buffer: y out f32 64
// launch: reads grid=1 block=64 args=x,y
// launch: writes grid=1 block=64 args=x
// expect: pass
// broken: reject race.global
extern "C" __global__ void reads(float *x, float *y) {
   int t = threadIdx.x;
   float value = __ldg(x + t);
#ifdef BROKEN
   __syncthreads();
   x[63 - t] = value;
#endif
   y[t] = value;
}

extern "C" __global__ void writes(float *x) {
   x[threadIdx.x] *= 2;
}
