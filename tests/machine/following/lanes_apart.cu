// buffer: x in f32 512 noise
// buffer: scratch scratch f32 192
// buffer: y out f32 192
// launch: k grid=2,1,1 block=96,1,1 args=x,scratch,y
// launch: k grid=2,1,1 block=96,1,1 args=scratch,scratch,y
// expect: pass
// follows: yes
// why: lanes go round loops of different lengths, past each other, with numbers of their own that no input reaches and others that one does
extern "C" __global__ void k(const float *x, float *scratch, float *y) {
   const int t = threadIdx.x, i = blockIdx.x * 96 + t;
   float sum = 0;
   for (int n = 0; n < t % 7; n++) {
      const float weight = (float)(n * t + 1), other = (float)(t - n) * 0.25f;
      sum += x[(i + n) % 96] * weight;
      sum -= x[(i + 2 * n) % 96] * other + weight;
   }
   if (t % 3 == 1) {
      const float scale = (float)(t * t % 11);
#pragma unroll 1
      for (int n = t; n > 0; n /= 2)
         sum = sum * 0.5f + x[n] * scale + (float)n;
   } else if (t % 5 < 3) {
      const int shift = t * 5 % 17;
#pragma unroll 1
      for (int n = 0; n < shift; n += 3)
         sum += x[n + shift] / (1.0f + (float)(n * shift));
   }
   y[i] = sum;
   if (x != scratch)
      scratch[i] = sum + x[i];
}
