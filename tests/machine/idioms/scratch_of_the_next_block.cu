// why: what blocks leave in scratch is for the next launch; another block's row is no block's to read
// buffer: x in f32 256 noise
// buffer: scratch scratch f32 256 zero
// buffer: y out f32 256
// launch: leave grid=4 block=64 args=x,scratch,y
// launch: take grid=4 block=64 args=x,scratch,y
// expect: pass
// broken: reject race.global
extern "C" __global__ void leave(const float *x, float *scratch, float *y) {
   int i = blockIdx.x * 64 + threadIdx.x;
   scratch[i] = x[i];
#ifdef BROKEN
   __syncthreads();
   y[i] = scratch[(i + 64) % 256];
#endif
}
extern "C" __global__ void take(const float *x, float *scratch, float *y) {
   int i = blockIdx.x * 64 + threadIdx.x;
   y[i] = scratch[(i + 64) % 256] + x[i];
}
