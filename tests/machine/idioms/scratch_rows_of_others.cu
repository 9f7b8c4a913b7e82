// why: a row of scratch is read by a warp that did not write it, once a barrier lies between
// buffer: x in f32 128 noise
// buffer: scratch scratch f32 128
// buffer: y out f32 128
// launch: pass grid=1 block=128 args=x,scratch,y
// expect: pass
// broken: reject race.global
extern "C" __global__ void pass(const float *x, float *scratch, float *y) {
   int t = threadIdx.x;
   scratch[t] = 2 * x[t];
#ifndef BROKEN
   __syncthreads();
#endif
   y[t] = scratch[(t + 32) % 128];
}
