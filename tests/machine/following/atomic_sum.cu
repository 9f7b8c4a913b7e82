// buffer: x in f32 256 noise
// buffer: y inout f32 1 zero
// launch: k grid=2,1,1 block=128,1,1 args=x,y
// expect: pass
// follows: no
// why: atomic operations are executed
extern "C" __global__ void k(const float *x, float *y) {
   atomicAdd(y, x[blockIdx.x * 128 + threadIdx.x]);
}
