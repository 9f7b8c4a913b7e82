// why: cuda::barrier: arrive, work, wait; without the wait nothing is ordered.  Its wait looks at a clock, hence suspect
// buffer: y out f32 128
// launch: library grid=1 block=128 args=y
// expect: suspect environment.clock
// broken: reject race.shared
#include <cuda/barrier>
extern "C" __global__ void library(float *y) {
   __shared__ float room[128];
   #pragma nv_diag_suppress static_var_with_dynamic_init
   __shared__ cuda::barrier<cuda::thread_scope_block> all;
   if (threadIdx.x == 0)
      init(&all, blockDim.x);
   __syncthreads();
   for (int k = 0; k < 2; k++) {
      room[threadIdx.x] = threadIdx.x + k;
      auto token = all.arrive();
#ifndef BROKEN
      all.wait(cuda::std::move(token));
#endif
      y[threadIdx.x] = room[127 - threadIdx.x];
      all.arrive_and_wait();
   }
}
