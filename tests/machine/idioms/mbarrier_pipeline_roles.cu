// why: cuda::pipeline with roles ends the life of its mbarriers when the last thread quits: it waits for no phase of arrivals alone, and lanes meet at match.sync
// buffer: x in f32 1024 noise
// buffer: y out f32 1024
// launch: roles grid=1 block=128 args=x,y
// expect: suspect environment.clock
// broken: reject race.async
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void roles(const float *x, float *y) {
   __shared__ __align__(16) float room[2][64];
   #pragma nv_diag_suppress static_var_with_dynamic_init
   __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
   auto block = cooperative_groups::this_thread_block();
   const bool fills = threadIdx.x < 64;
   const int t = threadIdx.x % 64;
   auto pipe = cuda::make_pipeline(block, &state, fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
   for (int k = 0; k < 16; k++) {
      if (fills) {
         pipe.producer_acquire();
         cuda::memcpy_async(&room[k % 2][t], x + 64 * k + t, sizeof(float), pipe);
         pipe.producer_commit();
      } else {
#ifndef BROKEN
         pipe.consumer_wait();
#endif
         y[64 * k + t] = room[k % 2][63 - t];
         pipe.consumer_release();
      }
   }
}
