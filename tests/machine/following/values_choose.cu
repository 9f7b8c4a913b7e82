// buffer: x in f32 1000 noise
// buffer: y out f32 1000
// launch: k grid=4,1,1 block=256,1,1 args=x,y,1000
// expect: pass
// follows: yes
// why: an input decides what is selected, clamped and summed by a shuffle, and no path
extern "C" __global__ void k(const float *x, float *y, int n) {
   __shared__ float tile[256];
   int i = blockIdx.x * 256 + threadIdx.x;
   float v = i < n ? x[i] : 0.0f;
   float w = fmaxf(v * v, 0.25f) - (v > 0.25f ? 0.5f : 0.125f);
   for (int d = 16; d; d >>= 1)
      w += __shfl_xor_sync(0xffffffffu, w, d) * 0.125f;
   tile[threadIdx.x] = w;
   __syncthreads();
   float s = tile[255 - threadIdx.x] + tile[threadIdx.x & 7] + tile[threadIdx.x / 8];
   if (i < n)
      y[i] = s / (1.0f + fabsf(v));
}
