// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: k grid=1,1,1 block=64,1,1 args=x,y
// expect: pass
// follows: no
// why: a variable of the module passes something on to the next run
__device__ int runs_before;
extern "C" __global__ void k(const float *x, float *y) {
   int before = runs_before;
   __syncthreads();
   y[threadIdx.x] = x[threadIdx.x] + (before < 100 ? 1.0f : 2.0f);
   if (threadIdx.x == 0)
      runs_before = before + 1;
}
