// why: lanes that part for a moment, after the warp has gone a long way together, meet again at the next shuffle: who goes first is
// why: no matter of how far they had come before; in the broken one lane 0 is gone
// buffer: y out f32 32
// launch: sum grid=1 block=32 args=y
// expect: pass
// broken: reject sync.warp
extern "C" __global__ void sum(float *y) {
   float v = threadIdx.x;
   int parted = 0;
#pragma unroll 1
   for (int n = 0; n < 30000; n++) {
      if (threadIdx.x == 0 && n % 1000 == 999)
         *(volatile float *)y = v;
#ifdef BROKEN
      if (threadIdx.x == 0 && n == 29999)
         return;
#endif
      v = v * 0.5f + __shfl_xor_sync(0xffffffffu, v, 1);
      if (threadIdx.x == 0 && n % 1000 == 500)
         parted++;
   }
   __syncwarp();
   y[threadIdx.x] = v * 1e-30f + parted;
}
