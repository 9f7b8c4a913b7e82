// why: a warp changes a map while copies by it may be on their way: it waits until they have read the map, which a wait for its bulk groups says
// why: (PTX ISA 9.0, cp.async.bulk.wait_group); the broken one does not wait
// buffer: x in f32 4096 index
// buffer: room scratch u8 256
// buffer: y out f32 1024
// map: from x f32 dims=32,32 strides=128 box=32,8
// launch: change grid=1 block=64 args=from,x,room,y
// expect: pass
// broken: reject race.async
#include "changed_maps.cuh"
extern "C" __global__ void change(const __grid_constant__ tensor_map from, const float *x, tensor_map *room, float *y) {
   __shared__ __align__(128) tensor_map mine;
   __shared__ __align__(128) float tile[4][256];
   __shared__ unsigned long long full[4];
   const int t = threadIdx.x;
   if (t == 0) {
      for (int n = 0; n < 4; n++)
         bar_init(&full[n], 1);
      bar_fence();
   }
   if (t < 32)
      map_take(&mine, &from);
   __syncthreads();
   if (t < 32)
      for (int n = 0; n < 4; n++) {
         __syncwarp();
         if (t == 0) {
            map_address(&mine, x + 1024 * n);
#ifndef BROKEN
            bulk_commit();
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
         }
         __syncwarp();
         map_give(room, &mine);
         map_acquire(room);
         if (t == 0) {
            bar_expect(&full[n], 1024);
            tile_load(tile[n], room, 0, 8, &full[n]);
         }
      }
   for (int n = 0; n < 4; n++) {
      bar_wait(&full[n], 0);
      for (int k = t; k < 256; k += 64) {
         if (tile[n][k] != 1024 * n + 256 + k)
            __trap();
         y[256 * n + k] = tile[n][k];
      }
   }
}
