// buffer: x in f32 256 noise
// buffer: y out f32 256
// launch: k grid=1,1,1 block=256,1,1 args=x,y,7500
// expect: pass
// follows: yes
// why: what one block does to values is more than is written down: every set executes it
extern "C" __global__ void k(const float *x, float *y, int n) {
   __shared__ float tile[256];
   tile[threadIdx.x] = x[threadIdx.x];
   __syncthreads();
   float s = 0.0f;
   for (int k = 0; k < n; k++)
      s = s * 0.5f + tile[(threadIdx.x * 7 + k) & 255];
   y[threadIdx.x] = s;
}
