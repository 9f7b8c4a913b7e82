// why: the tail of a row is read element by element; a whole vector there reads past the end
// buffer: x in f32 1002 noise
// buffer: y out f32 1002
// launch: scale grid=1 block=256 args=x,y,1002
// expect: pass
// broken: reject memory.out_of_bounds
extern "C" __global__ void scale(const float *x, float *y, int n) {
   int i = threadIdx.x * 4;
#ifdef BROKEN
   if (i < n) {
#else
   if (i + 3 < n) {
#endif
      float4 v = *reinterpret_cast<const float4 *>(x + i);
      *reinterpret_cast<float4 *>(y + i) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
   } else {
      for (; i < n; i++)
         y[i] = 2 * x[i];
   }
}
