// why: a product of bfloat16 matrices, 128 x 128 a block: a producer fills four buffers by tensor copies, two warpgroups multiply, and give
// why: a buffer back when the products of it are done, one step behind
// buffer: a in bf16 131072 noise
// buffer: b in bf16 131072 noise
// buffer: y out f32 65536
// map: from_a a bf16 dims=512,256 strides=1024 box=64,128 swizzle=128
// map: from_b b bf16 dims=512,256 strides=1024 box=64,128 swizzle=128
// launch: gemm grid=2,2 block=384 shared=132096 args=from_a,from_b,y
// expect: pass
#include "tensor_maps.cuh"
#include "warpgroups.cuh"
#define N 256
#define K 512
#define TILE 128
#define STEP 64
#define STAGES 4
#define BYTES (2 * TILE * STEP * 2)
extern "C" __global__ void __launch_bounds__(384, 1)
gemm(const __grid_constant__ tensor_map from_a, const __grid_constant__ tensor_map from_b, float *y) {
   extern __shared__ __align__(1024) unsigned char room[];
   __shared__ unsigned long long full[STAGES], empty[STAGES];
   const int t = threadIdx.x, group = t / 128, lane = t % 32, warp = t / 32 % 4;
   if (t == 0) {
      for (int s = 0; s < STAGES; s++) {
         bar_init(&full[s], 1);
         bar_init(&empty[s], 2);
      }
      bar_fence();
   }
   __syncthreads();
   if (group == 0) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      for (int step = 0; t == 0 && step < K / STEP; step++) {
         const int s = step % STAGES;
         bar_wait(&empty[s], (step / STAGES & 1) ^ 1);
         bar_expect(&full[s], BYTES);
         tile_load(room + s * BYTES, &from_a, step * STEP, blockIdx.y * TILE, &full[s]);
         tile_load(room + s * BYTES + BYTES / 2, &from_b, step * STEP, blockIdx.x * TILE, &full[s]);
      }
      return;
   }
   asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
   float d[64];
#pragma unroll
   for (int n = 0; n < 64; n++)
      d[n] = 0;
   for (int step = 0; step < K / STEP; step++) {
      const int s = step % STAGES;
      const unsigned at = ROOM(room) + s * BYTES;
      bar_wait(&full[s], step / STAGES & 1);
      hold(d);
      group_fence();
#pragma unroll
      for (int k = 0; k < STEP; k += 16)
         multiply(d, swizzled(at + (group - 1) * BYTES / 4 + 2 * k), swizzled(at + BYTES / 2 + 2 * k));
      group_commit();
      hold(d);
      group_wait<1>();
      if (step && t % 128 == 0)
         bar_arrive(&empty[(step - 1) % STAGES]);
   }
   group_wait<0>();
   hold(d);
#pragma unroll
   for (int n = 0; n < 64; n++) {
      const int row = (group - 1) * 64 + warp * 16 + lane / 4 + n / 2 % 2 * 8, column = n / 4 * 8 + lane % 4 * 2 + n % 2;
      y[(blockIdx.y * TILE + row) * N + blockIdx.x * TILE + column] = d[n];
   }
}
