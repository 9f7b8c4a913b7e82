// buffer: x in f32 200 noise
// buffer: y out f32 200
// launch: k grid=5,1,1 block=40,1,1 args=x,y
// expect: pass
// follows: yes
// why: lanes that are not there, vectors of what a lane keeps for itself, and lanes that part and meet
extern "C" __global__ void k(const float *x, float *y) {
   int i = blockIdx.x * 40 + threadIdx.x;
   float own[8];
   for (int n = 0; n < 8; n++)
      own[n] = x[(i + n * 7) % 200];
   float s = 0.0f;
   for (int n = 0; n < 8; n++)
      s += own[(threadIdx.x + n * 3) & 7] * (float)(n + 1);
   if (threadIdx.x & 1)
      s = sqrtf(fabsf(s)) - own[threadIdx.x & 7];
   else if (threadIdx.x < 9)
      s *= 0.5f;
   y[i] = s;
}
