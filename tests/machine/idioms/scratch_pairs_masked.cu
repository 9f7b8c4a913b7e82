// why: some lanes of a warp read pairs that other warps wrote, two lanes a pair
// buffer: x in f32 256 noise
// buffer: scratch scratch f32 256
// buffer: y out f32 100
// launch: pass grid=1 block=128 args=x,scratch,y,100
// expect: pass
// broken: reject race.global
extern "C" __global__ void pass(const float *x, float *scratch, float *y, int n) {
   int t = threadIdx.x;
   reinterpret_cast<float2 *>(scratch)[t] = make_float2(x[2 * t], x[2 * t + 1]);
#ifndef BROKEN
   __syncthreads();
#endif
   if (t < n) {
      float2 pair = reinterpret_cast<const float2 *>(scratch)[127 - t / 2];
      y[t] = pair.x + pair.y;
   }
}
