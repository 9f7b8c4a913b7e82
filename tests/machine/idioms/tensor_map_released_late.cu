// why: a released map is ordered before the thread that acquires it by a barrier behind the release; in the broken one the barrier comes before it
// buffer: x in f32 4096 index
// buffer: room scratch u8 256
// buffer: y out f32 256
// map: from x f32 dims=64,64 strides=256 box=32,8
// launch: change grid=1 block=64 args=from,room,y
// expect: pass
// broken: reject race.proxy
#include "changed_maps.cuh"
extern "C" __global__ void change(const __grid_constant__ tensor_map from, tensor_map *room, float *y) {
   __shared__ __align__(128) float tile[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      for (int n = 0; n < 16; n++)
         room->opaque[n] = from.opaque[n];
      asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 1, 6;" :: "l"(room) : "memory");
   }
#ifdef BROKEN
   __syncthreads();
#endif
   if (t == 0)
      map_release();
#ifndef BROKEN
   __syncthreads();
#endif
   if (t == 32) {
      map_acquire(room);
      bar_expect(&full, 1024);
      tile_load(tile, room, 32, 0, &full);
   }
   bar_wait(&full, 0);
   for (int n = t; n < 256; n += 64) {
      if (tile[n] != (n / 32 < 6 ? n / 32 * 64 + 32 + n % 32 : 0))
         __trap();
      y[n] = tile[n];
   }
}
