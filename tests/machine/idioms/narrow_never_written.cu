// why: of the bytes that a warp reads at once, those that nobody wrote are no values
// buffer: x in i32 64
// buffer: y out i32 64
// launch: bytes grid=1 block=64 args=x,y
// expect: pass
// broken: reject memory.uninitialised
extern "C" __global__ void bytes(const int *x, int *y) {
   __shared__ unsigned char kept[64];
   const int t = threadIdx.x;
#ifdef BROKEN
   if (t != 17)
#endif
      kept[t] = (unsigned char)x[t];
   __syncthreads();
   y[t] = kept[63 - t];
}
