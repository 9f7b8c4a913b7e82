// why: inputs belong to the caller
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: relu grid=1 block=64 args=x,y
// expect: pass
// broken: reject input.modified
extern "C" __global__ void relu(float *x, float *y) {
   float v = fmaxf(x[threadIdx.x], 0.0f);
   y[threadIdx.x] = v;
#ifdef BROKEN
   x[threadIdx.x] = v;
#endif
}
