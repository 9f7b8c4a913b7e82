// why: every thread reads its own word and then writes its neighbour's: the barrier between is what makes it a rotation
// buffer: x in f32 96 noise
// buffer: scratch scratch f32 96
// buffer: y out f32 96
// launch: pass grid=1 block=96 args=x,scratch,y
// expect: pass
// broken: reject race.global
extern "C" __global__ void pass(const float *x, float *scratch, float *y) {
   int t = threadIdx.x;
   scratch[t] = x[t];
   __syncthreads();
   float own = scratch[t];
#ifndef BROKEN
   __syncthreads();
#endif
   scratch[(t + 1) % 96] = own;
   __syncthreads();
   y[t] = scratch[t];
}
