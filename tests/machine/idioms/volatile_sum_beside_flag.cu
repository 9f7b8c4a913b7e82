// why: a warp sums integers in volatile shared memory, beside a volatile flag; in the broken one fences stand in place of barriers of the warp, and no
// why: fence waits for others
// buffer: x in i32 64 ramp
// buffer: y out i32 64
// launch: warp_share grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#ifdef BROKEN
#define STEP() __threadfence_block()
#else
#define STEP() __syncwarp()
#endif
extern "C" __global__ void warp_share(const int *x, int *y) {
   __shared__ volatile int s[64];
   __shared__ volatile int go;
   int lane = threadIdx.x % 32, first = threadIdx.x - lane;
   if (threadIdx.x == 0) go = 0;
   __syncthreads();
   if (threadIdx.x == 32) { __threadfence_block(); go = 1; }
   if (threadIdx.x == 0) while (go == 0);
   __threadfence_block();
   __syncwarp();
   s[threadIdx.x] = x[threadIdx.x];
   STEP();
   for (int half = 16; half > 0; half /= 2) {
      int other = lane < half ? s[threadIdx.x + half] : 0;
      STEP();
      if (lane < half)
         s[threadIdx.x] += other;
      STEP();
   }
   y[threadIdx.x] = s[first];
}
