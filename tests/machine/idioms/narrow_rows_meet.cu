// why: one warp stores bytes up to where the words of another begin
// buffer: x in i32 64
// buffer: y out i32 40
// launch: meet grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#ifdef BROKEN
#define FIRST 1
#else
#define FIRST 0
#endif
extern "C" __global__ void meet(const int *x, int *y) {
   __shared__ __align__(16) unsigned char kept[160];
   const int t = threadIdx.x;
   if (t < 32)
      kept[FIRST + t] = (unsigned char)x[t];
   else
      ((int *)kept)[8 + t - 32] = x[t];
   if (FIRST && t == 0)
      kept[0] = 0;
   __syncthreads();
   if (t < 40)
      y[t] = ((const int *)kept)[39 - t];
}
