// why: a warp's stores may go anywhere, as long as no two lanes go to one word
// buffer: x in f32 128 noise
// buffer: scratch scratch f32 128 zero
// buffer: y out f32 128
// launch: scatter grid=1 block=128 args=x,scratch,y
// expect: pass
// broken: reject race.global
#ifdef BROKEN
#define STRIDE 8
#else
#define STRIDE 7
#endif
extern "C" __global__ void scatter(const float *x, float *scratch, float *y) {
   int t = threadIdx.x;
   scratch[t * STRIDE % 128] = x[t];
   __syncthreads();
   y[t] = scratch[t];
}
