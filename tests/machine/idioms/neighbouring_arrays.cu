// why: two shared arrays, each filled and read to its last element; one element short, the first runs into the second, or into
// why: nothing that a device would notice, and only the room left between them shows it
// buffer: x in f32 128 noise
// buffer: y out f32 128
// launch: reverse grid=2 block=64 args=x,y
// expect: pass
// broken: reject memory.out_of_bounds
#ifdef BROKEN
#define COUNT 63
#else
#define COUNT 64
#endif
extern "C" __global__ void reverse(const float *x, float *y) {
   __shared__ float low[COUNT], high[64];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
   low[t] = x[at];
   high[t] = 2 * x[at];
   __syncthreads();
   y[at] = low[63 - t] + high[63 - t];
}
