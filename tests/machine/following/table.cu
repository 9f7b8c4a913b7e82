// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: k grid=1,1,1 block=64,1,1 args=x,y
// expect: pass
// follows: yes
// why: a variable that no run changes is a constant
__device__ float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};
extern "C" __global__ void k(const float *x, float *y) {
   y[threadIdx.x] = x[threadIdx.x] * table[threadIdx.x & 3];
}
