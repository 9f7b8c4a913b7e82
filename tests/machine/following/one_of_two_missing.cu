// buffer: x in f32 32 noise
// buffer: y out f32 32
// launch: k grid=1,1,1 block=32,1,1 args=x,y
// expect: pass
// follows: first
// why: whether what was never written is stored depends on the input: every set executes it, and there is nothing else
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ float tile[64];
   tile[threadIdx.x] = x[threadIdx.x];
   __syncthreads();
   float known = tile[31 - threadIdx.x], unknown = tile[32 + threadIdx.x];
   y[threadIdx.x] = known > 100.0f ? unknown : known;
}
