// why: a product in the style of tile libraries: shared and register tiles as types, semaphores with a word of phase bits, groups whose members
// why: load, multiply and store tiles; the broken one forgets to turn a ring's phase bit
// buffer: a in bf16 32768 noise
// buffer: b in bf16 32768 noise
// buffer: y out f32 16384
// map: map_a a bf16 dims=256,128 strides=512 box=64,128 swizzle=128
// map: map_b b bf16 dims=256,128 strides=512 box=64,128 swizzle=128
// launch: matmul grid=1 block=384 shared=66560 args=map_a,map_b,y
// expect: pass
// broken: reject race.async
#include "tensor_maps.cuh"
#include "warpgroups.cuh"
namespace tiles {
using bf16 = unsigned short;
template <int R, int C> struct st_bf {
   static constexpr int rows = R, cols = C, bytes = R * C * 2;
   bf16 data[R * C];
};
template <int R, int C> struct rt_fl {
   float data[R * C / 128];
};
struct semaphore {
   unsigned long long value;
};
template <class T> struct gl {
   T *raw;
   int cols;
   __device__ T &operator[](int2 at) const { return raw[at.x * cols + at.y]; }
};
/* Of ring position n the bit of those who wait until it is full, and, 16 above, until it is free. */
template <int half> __device__ inline int get_phasebit(unsigned bits, int n) { return bits >> (n + half * 16) & 1; }
template <int half> __device__ inline void update_phasebit(unsigned &bits, int n) { bits ^= 1u << (n + half * 16); }
__device__ inline void init_semaphore(semaphore &s, int count) { bar_init(&s.value, count); }
__device__ inline void wait(semaphore &s, int phase) { bar_wait(&s.value, phase); }
__device__ inline void arrive(semaphore &s) { bar_arrive(&s.value); }
namespace tma {
template <class... Tiles> __device__ inline void expect(semaphore &s, const Tiles &...) { bar_expect(&s.value, (Tiles::bytes + ...)); }
template <class Tile> __device__ inline void load_async(Tile &to, const tensor_map &from, int2 at, semaphore &s) {
   tile_load(&to, &from, at.y * Tile::cols, at.x * Tile::rows, &s.value);
}
}
namespace warpgroup {
__device__ inline int groupid() { return threadIdx.x / 128; }
__device__ inline int laneid() { return threadIdx.x % 128; }
__device__ inline void zero(rt_fl<64, 128> &tile) {
#pragma unroll
   for (float &x : tile.data)
      x = 0;
}
/* c += a b^T, begun */
template <int K> __device__ inline void mma_ABt(rt_fl<64, 128> &c, const st_bf<64, K> &a, const st_bf<128, K> &b) {
   hold(c.data);
   group_fence();
#pragma unroll
   for (int k = 0; k < K; k += 16)
      multiply(c.data, swizzled(ROOM(&a) + 2 * k), swizzled(ROOM(&b) + 2 * k));
   group_commit();
   hold(c.data);
}
template <int n = 0> __device__ inline void mma_async_wait(rt_fl<64, 128> &c) {
   group_wait<n>();
   hold(c.data);
}
__device__ inline void store(const gl<float> &to, const rt_fl<64, 128> &from, int2 at) {
   const int lane = laneid();
#pragma unroll
   for (int n = 0; n < 64; n++)
      to[{at.x * 64 + lane / 32 * 16 + lane % 32 / 4 + n / 2 % 2 * 8, at.y * 128 + n / 4 * 8 + lane % 4 * 2 + n % 2}] = from.data[n];
}
}
}
using namespace tiles;
constexpr int RING = 2, STEPS = 4;
struct globals {
   gl<float> y;
};
extern "C" __global__ void __launch_bounds__(384, 1)
matmul(const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b, float *y) {
   extern __shared__ __align__(1024) int memory[];
   st_bf<64, 64>(&as)[RING][2] = *reinterpret_cast<st_bf<64, 64>(*)[RING][2]>(memory);
   st_bf<128, 64>(&bs)[RING] = *reinterpret_cast<st_bf<128, 64>(*)[RING]>(reinterpret_cast<char *>(memory) + sizeof as);
   __shared__ semaphore arrived[RING], finished[RING];
   const globals g{{y, 128}};
   if (threadIdx.x == 0) {
      for (int n = 0; n < RING; n++) {
         init_semaphore(arrived[n], 1);
         init_semaphore(finished[n], 2);
      }
      bar_fence();
   }
   __syncthreads();
   unsigned phasebits = 0xffff0000u;
   if (warpgroup::groupid() == 2) {
      for (int step = 0, ring = 0; warpgroup::laneid() == 0 && step < STEPS; step++, ring = (ring + 1) % RING) {
         wait(finished[ring], get_phasebit<1>(phasebits, ring));
         update_phasebit<1>(phasebits, ring);
         tma::expect(arrived[ring], as[ring][0], as[ring][1], bs[ring]);
         tile_load(&as[ring][0], &map_a, step * 64, 0, &arrived[ring].value); /* the box has the rows of both */
         tma::load_async(bs[ring], map_b, {0, step}, arrived[ring]);
      }
      return;
   }
   rt_fl<64, 128> accumulator;
   warpgroup::zero(accumulator);
   for (int step = 0, ring = 0; step < STEPS; step++, ring = (ring + 1) % RING) {
      wait(arrived[ring], get_phasebit<0>(phasebits, ring));
#ifndef BROKEN
      update_phasebit<0>(phasebits, ring);
#endif
      warpgroup::mma_ABt(accumulator, as[ring][warpgroup::groupid()], bs[ring]);
      warpgroup::mma_async_wait(accumulator);
      if (warpgroup::laneid() == 0)
         arrive(finished[ring]);
   }
   warpgroup::store(g.y, accumulator, {warpgroup::groupid(), 0});
}
