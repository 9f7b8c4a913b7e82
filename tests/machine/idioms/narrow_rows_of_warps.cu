// why: lanes store halves one after the other, and another warp reads them as words after a barrier
// buffer: x in i32 128
// buffer: y out i32 64
// launch: rows grid=1 block=128 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void rows(const int *x, int *y) {
   __shared__ unsigned short kept[128];
   const int t = threadIdx.x;
   kept[t] = (unsigned short)x[t];
#ifdef BROKEN
   __syncwarp();
#else
   __syncthreads();
#endif
   if (t < 64)
      y[t] = ((const int *)kept)[63 - t];
}
