// why: lanes that go round a barrier and meet at a shuffle which names those that wait: the barrier is to blame
// buffer: x in f32 64 noise
// buffer: y out f32 2
// launch: sum grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void sum(const float *x, float *y) {
   __shared__ float s[64];
   const int t = threadIdx.x;
   s[t] = x[t];
#ifdef BROKEN
   if (t % 32 == 0)
#endif
      __syncthreads();
   float v = s[t];
   for (int distance = 16; distance > 0; distance /= 2)
      v += __shfl_xor_sync(0xffffffffu, v, distance);
   if (t % 32 == 0)
      y[t / 32] = v;
}
