// why: bins of each warp's own: additions among its lanes need no order, reading them does
// buffer: x in i32 256 index
// buffer: y out i32 64
// launch: histograms grid=1 block=256 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void histograms(const int *x, int *y) {
   __shared__ int bins[8][8];
   const int t = threadIdx.x, warp = t / 32, lane = t % 32;
   if (lane < 8)
      bins[warp][lane] = 0;
   __syncwarp();
   atomicAdd(&bins[warp][x[t] % 8], 1);
#ifndef BROKEN
   __syncwarp();
#endif
   if (lane < 8)
      y[warp * 8 + lane] = bins[warp][lane];
}
