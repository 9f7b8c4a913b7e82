// why: many threads that set a flag to the same value are harmless on every known device, and no kernel should rely on it
// buffer: x in f32 256 noise
// buffer: y out i32 1
// launch: any_negative grid=1 block=256 args=x,y
// expect: suspect race.shared
// broken: reject race.shared
extern "C" __global__ void any_negative(const float *x, int *y) {
   __shared__ int flag;
   if (threadIdx.x == 0)
      flag = 0;
   __syncthreads();
   if (x[threadIdx.x] < 0)
#ifdef BROKEN
      flag = threadIdx.x + 1;
#else
      flag = 1;
#endif
   __syncthreads();
   if (threadIdx.x == 0)
      *y = flag;
}
