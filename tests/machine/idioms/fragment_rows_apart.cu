// why: a warp stores a fragment to shared memory and reads it after __syncwarp; rows four elements apart lie over each other, and lanes
// why: store the same value at a place, which is told by what the earlier lane has just stored
// buffer: y out f32 256
// launch: tile grid=1 block=32 args=y
// expect: pass
// broken: suspect race.shared
#include <mma.h>
using namespace nvcuda;
#ifndef BROKEN
#define STRIDE 16
#else
#define STRIDE 4
#endif
extern "C" __global__ void tile(float *y) {
   __shared__ alignas(32) float rows[256];
   for (int n = threadIdx.x; n < 256; n += 32)
      rows[n] = 0.0f;
   __syncwarp();
   wmma::fragment<wmma::accumulator, 16, 16, 16, float> ones;
   wmma::fill_fragment(ones, 1.0f);
   wmma::store_matrix_sync(rows, ones, STRIDE, wmma::mem_row_major);
   __syncwarp();
   for (int n = threadIdx.x; n < 256; n += 32)
      y[n] = rows[n];
}
