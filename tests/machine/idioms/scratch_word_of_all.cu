// why: one word of scratch is read by every thread and written anew after a barrier; without it the readers race with the writer
// buffer: x in f32 128 noise
// buffer: scratch scratch f32 1
// buffer: y out f32 128
// launch: pass grid=1 block=128 args=x,scratch,y
// expect: pass
// broken: reject race.global
extern "C" __global__ void pass(const float *x, float *scratch, float *y) {
   int t = threadIdx.x;
   if (t == 0)
      *scratch = x[0];
   __syncthreads();
   float first = *scratch;
#ifndef BROKEN
   __syncthreads();
#endif
   if (t == 70)
      *scratch = first + x[1];
   __syncthreads();
   y[t] = first + *scratch;
}
