// why: the lanes of a half of a warp wait for their own first lane, which polls shared memory until the other warp has computed for long; in the broken one they
// why: also name a lane that ends without the shuffle
// buffer: y out i32 64
// launch: halves grid=1 block=64 args=y
// expect: pass
// broken: reject sync.warp
extern "C" __global__ void halves(int *y) {
   __shared__ unsigned done;
   const int lane = threadIdx.x & 31;
   if (threadIdx.x == 0)
      done = 0;
   __syncthreads();
   int value = 0;
   if (threadIdx.x >= 32) {
      for (int n = 0; n < 20000; n++)
         value = value * 1103515245 + 12345;
      if (lane == 5)
         atomicExch(&done, 1u);
      __syncwarp();
   } else if (lane < 16) {
#ifdef BROKEN
      const unsigned mask = 0x0001ffffu;
#else
      const unsigned mask = 0x0000ffffu;
#endif
      if (lane == 3)
         while (atomicAdd(&done, 0u) == 0)
            value++;
      value = __shfl_sync(mask, value > 0, 3);
   }
   y[threadIdx.x] = value != 0;
}
