// buffer: x in f32 512 noise
// buffer: y out f32 512
// launch: k grid=1,1,1 block=256,1,1 args=x,y,45000
// expect: pass
// follows: yes
// why: what one block does to values is more than is written down: every set executes it
extern "C" __global__ void k(const float *x, float *y, int n) {
   float a = x[threadIdx.x], b = x[threadIdx.x + 256];
   for (int k = 0; k < n; k++) {
      a = a * 0.5f + b;
      b = b * 0.25f - a * 0.125f;
   }
   y[threadIdx.x] = a;
   y[threadIdx.x + 256] = b;
}
