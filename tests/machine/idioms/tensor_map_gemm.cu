// why: a matrix product in the warp-specialised way: one warp fills a ring of three stages with tensor copies, four warps multiply what is
// why: there (ldmatrix on swizzled rows, mma) and say when a stage is free; the broken one says so before it has read it
// buffer: a in bf16 8192 ramp
// buffer: b in bf16 8192 ramp
// buffer: c out f32 4096
// map: tiles_a a bf16 dims=128,64 strides=256 box=32,64 swizzle=64
// map: tiles_b b bf16 dims=128,64 strides=256 box=32,64 swizzle=64
// launch: gemm grid=1 block=160 args=tiles_a,tiles_b,c
// expect: pass
// broken: reject race.async
#include "tensor_maps.cuh"
#define STAGES 3
#define BYTES (64 * 32 * 2)
__device__ __forceinline__ void ldmatrix(unsigned (&r)[4], unsigned at) {
   asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ unsigned swizzled(unsigned at) { return at ^ (at >> 7 & 3) << 4; }
extern "C" __global__ void gemm(const __grid_constant__ tensor_map tiles_a, const __grid_constant__ tensor_map tiles_b, float *c) {
   __shared__ __align__(1024) unsigned char room[STAGES][2][BYTES];
   __shared__ unsigned long long full[STAGES], empty[STAGES];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   if (threadIdx.x == 0) {
      for (int s = 0; s < STAGES; s++) {
         bar_init(&full[s], 1);
         bar_init(&empty[s], 4);
      }
      bar_fence();
   }
   __syncthreads();
   if (warp == 4) {
      if (lane == 0)
         for (int k = 0; k < 4; k++) {
            const int s = k % STAGES;
            bar_wait(&empty[s], (k / STAGES & 1) ^ 1);
            bar_expect(&full[s], 2 * BYTES);
            tile_load(room[s][0], &tiles_a, 32 * k, 0, &full[s]);
            tile_load(room[s][1], &tiles_b, 32 * k, 0, &full[s]);
         }
      return;
   }
   float sum[8][4] = {};
   for (int k = 0; k < 4; k++) {
      const int s = k % STAGES;
      bar_wait(&full[s], k / STAGES & 1);
#ifdef BROKEN
      if (lane == 0)
         bar_arrive(&empty[s]);
#endif
      const unsigned from_a = ROOM(room[s][0]), from_b = ROOM(room[s][1]);
      for (int step = 0; step < 2; step++) {
         unsigned fragment_a[4];
         ldmatrix(fragment_a, swizzled(from_a + (16 * warp + lane % 16) * 64 + step * 32 + lane / 16 * 16));
         for (int n = 0; n < 4; n++) {
            unsigned fragment_b[4];
            ldmatrix(fragment_b, swizzled(from_b + (16 * n + lane % 8 + lane / 16 * 8) * 64 + step * 32 + (lane / 8 & 1) * 16));
            for (int half = 0; half < 2; half++) {
               float (&d)[4] = sum[2 * n + half];
               asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                            : "r"(fragment_a[0]), "r"(fragment_a[1]), "r"(fragment_a[2]), "r"(fragment_a[3]), "r"(fragment_b[2 * half]), "r"(fragment_b[2 * half + 1]));
            }
         }
      }
#ifndef BROKEN
      __syncwarp();
      if (lane == 0)
         bar_arrive(&empty[s]);
#endif
   }
   for (int n = 0; n < 8; n++)
      for (int e = 0; e < 4; e++) {
         const int row = 16 * warp + lane / 4 + e / 2 * 8, column = 8 * n + lane % 4 * 2 + e % 2;
         float exact = 0; // the ramp counts to 96 and begins again
         for (int k = 0; k < 128; k++)
            exact += (float)((row * 128 + k) % 97) * (float)((column * 128 + k) % 97);
         if (exact != sum[n][e])
            asm volatile("trap;");
         c[row * 64 + column] = sum[n][e];
      }
}
