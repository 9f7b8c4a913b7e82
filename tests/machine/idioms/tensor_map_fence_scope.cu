// why: a block makes a map for another one, which acquires it with the scope of the device; in the broken one the fences have the scope of the block
// buffer: x in f32 4096 index
// buffer: room scratch u8 256
// buffer: flag inout i32 1 zero
// buffer: y out f32 256
// map: from x f32 dims=64,64 strides=256 box=32,8
// launch: change grid=2 block=32 args=from,room,flag,y
// order: ascending
// expect: pass
// broken: reject race.proxy
#include "changed_maps.cuh"
#ifdef BROKEN
#define SCOPE "cta"
#else
#define SCOPE "gpu"
#endif
extern "C" __global__ void change(const __grid_constant__ tensor_map from, tensor_map *room, int *flag, float *y) {
   __shared__ __align__(128) float tile[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t)
      return;
   if (blockIdx.x == 0) {
      for (int n = 0; n < 16; n++)
         room->opaque[n] = from.opaque[n];
      asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 1, 6;" :: "l"(room) : "memory");
      asm volatile("fence.proxy.tensormap::generic.release." SCOPE ";" ::: "memory");
      asm volatile("st.release.gpu.s32 [%0], 1;" :: "l"(flag) : "memory");
      return;
   }
   int seen;
   do
      asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
   while (!seen);
   bar_init(&full, 1);
   bar_fence();
   asm volatile("fence.proxy.tensormap::generic.acquire." SCOPE " [%0], 128;" :: "l"(room) : "memory");
   bar_expect(&full, 1024);
   tile_load(tile, room, 32, 0, &full);
   bar_wait(&full, 0);
   for (int n = 0; n < 256; n++)
      y[n] = tile[n];
}
