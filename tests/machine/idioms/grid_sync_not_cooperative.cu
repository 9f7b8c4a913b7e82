// why: a launch that is not cooperative has no workspace, and grid.sync() traps there
// buffer: y out f32 4
// launch: meet grid=4 block=32 args=y
// expect: reject plan.trap
#include <cooperative_groups.h>
extern "C" __global__ void meet(float *y) {
   cooperative_groups::this_grid().sync();
   if (threadIdx.x == 0)
      y[blockIdx.x] = 1.0f;
}
