// why: a map whose rows are counted anew must end where the buffer does; the broken one has a row too many
// buffer: x in f32 2048 index
// buffer: room scratch u8 256
// buffer: y out f32 256
// map: from x f32 dims=32,16 strides=128 box=32,8
// launch: change grid=1 block=32 args=from,room,y
// expect: pass
// broken: reject memory.out_of_bounds
#include "changed_maps.cuh"
#ifdef BROKEN
#define ROWS 65
#else
#define ROWS 64
#endif
extern "C" __global__ void change(const __grid_constant__ tensor_map from, tensor_map *room, float *y) {
   __shared__ __align__(128) tensor_map mine;
   __shared__ __align__(128) float tile[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   map_take(&mine, &from);
   __syncwarp();
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      map_dim<1>(&mine, ROWS);
   }
   __syncwarp();
   map_give(room, &mine);
   map_acquire(room);
   if (t == 0) {
      bar_expect(&full, 1024);
      tile_load(tile, room, 0, 57, &full);
   }
   bar_wait(&full, 0);
   for (int n = t; n < 256; n += 32) {
      if (tile[n] != (n < 224 ? 57 * 32 + n : 0))
         __trap();
      y[n] = tile[n];
   }
}
