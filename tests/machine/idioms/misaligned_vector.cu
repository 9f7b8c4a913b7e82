// why: a vector needs an address that is a multiple of its size
// buffer: x in f32 1024 noise
// buffer: y out f32 1024
// launch: copy grid=1 block=256 args=x,y,1024
// expect: pass
// broken: reject memory.misaligned
extern "C" __global__ void copy(const float *x, float *y, int n) {
   int i = threadIdx.x * 4;
#ifdef BROKEN
   const float *from = x + 1 + (threadIdx.x == 255 ? -4 : 0);
#else
   const float *from = x;
#endif
   float4 v = *reinterpret_cast<const float4 *>(from + i);
   *reinterpret_cast<float4 *>(y + i) = v;
}
