// why: in a kernel that synchronises its warps, too, plain reads of what atomic operations made wait for the block
// buffer: x in i32 256 index
// buffer: y out i32 16
// launch: histogram grid=1 block=256 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void histogram(const int *x, int *y) {
   __syncwarp();
   __shared__ int bins[16];
   int t = threadIdx.x;
   if (t < 16)
      bins[t] = 0;
   __syncthreads();
   atomicAdd(&bins[x[t] % 16], 1);
#ifndef BROKEN
   __syncthreads();
#endif
   if (t < 16)
      y[t] = bins[t];
}
