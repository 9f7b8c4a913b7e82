// why: grid.sync() of cooperative groups: its counter lies in the workspace that a cooperative launch has, twice in one launch and in two
// why: launches; without the first barrier nothing orders what the other block wrote
// buffer: x scratch f32 4
// buffer: y out f32 4
// launch: exchange grid=4 block=64 cooperative args=x,y
// launch: exchange grid=4 block=64 cooperative args=x,y
// expect: pass
// broken: reject race.global
#include <cooperative_groups.h>
extern "C" __global__ void exchange(float *x, float *y) {
   const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
   if (threadIdx.x == 0)
      x[blockIdx.x] = blockIdx.x;
#ifndef BROKEN
   grid.sync();
#endif
   if (threadIdx.x == 33)
      y[blockIdx.x] = x[3 - blockIdx.x];
   grid.sync();
   if (threadIdx.x == 40)
      x[blockIdx.x] = y[3 - blockIdx.x];
}
