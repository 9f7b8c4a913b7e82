// why: broken since Volta: the last warp of a reduction in lockstep, through volatile shared memory, in a kernel with an atomic operation elsewhere
// buffer: x in f32 512 noise
// buffer: y inout f32 4 zero
// launch: block_sums grid=4 block=128 args=x,y
// expect: reject race.shared
extern "C" __global__ void block_sums(const float *x, float *y) {
   __shared__ float s[128];
   int t = threadIdx.x;
   s[t] = x[blockIdx.x * 128 + t];
   __syncthreads();
   if (t < 64) s[t] += s[t + 64];
   __syncthreads();
   if (t < 32) {
      volatile float *v = s;
      v[t] += v[t + 32];
      v[t] += v[t + 16];
      v[t] += v[t + 8];
      v[t] += v[t + 4];
      v[t] += v[t + 2];
      v[t] += v[t + 1];
   }
   if (t == 0) atomicAdd(y + blockIdx.x, s[0]);
}
