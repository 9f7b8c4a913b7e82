// buffer: x in f32 256 noise
// buffer: flag scratch i32 1 zero
// buffer: y out f32 256
// launch: mark grid=1,1,1 block=32,1,1 args=x,flag
// launch: use grid=1,1,1 block=256,1,1 args=x,flag,y
// expect: pass
// follows: yes
// why: the flag is a constant that a branch on x stores: what a later launch does with it depends on x all the same
extern "C" __global__ void mark(const float *x, int *flag) {
   if (threadIdx.x == 0 && x[3] > 0.0f)
      *flag = 1;
}

extern "C" __global__ void use(const float *x, const int *flag, float *y) {
   float v = x[threadIdx.x];
   if (*flag)
      v = v * v + 1.0f;
   y[threadIdx.x] = v;
}
