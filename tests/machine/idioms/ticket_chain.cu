// why: each block waits for the one whose ticket came before: in ascending order it ends with any number of blocks at once;
// why: waiting for the one that comes after, it does not
// buffer: x in f32 192 noise
// buffer: sums scratch f32 6
// buffer: y out f32 6
// launch: chain grid=6 block=32 args=x,sums,y
// resident: 2
// order: ascending
// expect: pass
// broken: reject sync.deadlock
__device__ unsigned ready[8];
extern "C" __global__ void chain(const float *x, volatile float *sums, float *y) {
   const int b = blockIdx.x;
   float v = x[b * 32 + threadIdx.x];
   for (int distance = 16; distance > 0; distance /= 2)
      v += __shfl_xor_sync(0xffffffffu, v, distance);
   if (threadIdx.x == 0) {
#ifdef BROKEN
      const int other = b + 1 < gridDim.x ? b + 1 : -1;
#else
      const int other = b - 1;
#endif
      if (other >= 0) {
         while (atomicAdd(&ready[other], 0) == 0)
            ;
         __threadfence();
         v += sums[other];
      }
      sums[b] = v;
      __threadfence();
      atomicExch(&ready[b], 1);
      y[b] = v;
   }
}
