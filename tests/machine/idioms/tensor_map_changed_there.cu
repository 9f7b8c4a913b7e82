// why: one thread copies a tensor map to global memory and changes it there, and another uses it; the broken one does not release what it
// why: wrote to the proxy that copies read maps through
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
      asm volatile("tensormap.replace.tile.fill_mode.global.b1024.b32 [%0], 1;" :: "l"(room) : "memory");
#ifndef BROKEN
      map_release();
#endif
   }
   __syncthreads();
   if (t == 32) {
      map_acquire(room);
      bar_expect(&full, 1024);
      tile_load(tile, room, 32, 0, &full);
   }
   bar_wait(&full, 0);
   for (int n = t; n < 256; n += 64) {
      if (n / 32 < 6 ? tile[n] != n / 32 * 64 + 32 + n % 32 : tile[n] == tile[n]) /* NaN past its end */
         __trap();
      y[n] = n / 32 < 6 ? tile[n] : 0;
   }
}
