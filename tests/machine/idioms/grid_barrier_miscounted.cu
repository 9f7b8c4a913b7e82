// why: as many blocks as the target holds meet; where they wait for one more than there are, no block goes on
// buffer: y out f32 4
// launch: meet grid=4 block=32 args=y
// resident: 4
// expect: pass
// broken: reject sync.deadlock
__device__ unsigned arrived = 0;
extern "C" __global__ void meet(float *y) {
#ifdef BROKEN
   const unsigned all = gridDim.x + 1;
#else
   const unsigned all = gridDim.x;
#endif
   if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(&arrived, 1);
      while (*(volatile unsigned *)&arrived < all)
         __nanosleep(100);
      y[blockIdx.x] = 1;
   }
}
