// buffer: x in f32 512 noise
// buffer: half scratch f32 512
// buffer: y out f32 512
// launch: steered grid=2,1,1 block=256,1,1 args=x,half
// launch: straight grid=2,1,1 block=256,1,1 args=half,y
// expect: pass
// follows: yes
// why: every set executes the first launch, in which x decides how often a loop is gone through; the second one follows
extern "C" __global__ void steered(const float *x, float *half) {
   int i = blockIdx.x * 256 + threadIdx.x;
   float v = x[i], s = 0.0f;
   for (int n = 0; n < 20 && s < v; n++)
      s += 0.0625f + v * 0.01f * n;
   half[i] = s;
}

extern "C" __global__ void straight(const float *half, float *y) {
   int i = blockIdx.x * 256 + threadIdx.x;
   y[i] = half[511 - i] * 2.0f + half[i ^ 5];
}
