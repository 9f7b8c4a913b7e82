// why: in a launch with clusters an address of shared memory has its block's rank from bit 24 on, the thread's own addresses too; in a matrix
// why: descriptor without "& 0x3ffff" the rank gets into the leading offset (on an H200 every block but the first was wrong)
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 2048
// launch: product grid=2 cluster=2 block=128 args=a,b,y
// expect: pass
// broken: reject memory.descriptor
#include "warpgroups.cuh"
__device__ __forceinline__ unsigned long long described(const void *at, int rows) {
   const unsigned long long bits = plain(at, rows);
#ifdef BROKEN
   return bits;
#else
   return (ROOM(at) & 0x3ffff) >> 4 | (bits & 0xffffffff00000000) | (unsigned long long)rows << 16;
#endif
}
extern "C" __global__ void product(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short x[64 * 16], w[16 * 16];
   float d[8] = {};
   fill(x, a, 64);
   fill(w, b, 16);
   proxy_fence();
   __syncthreads();
   hold(d);
   group_fence();
   multiply<1>(d, described(x, 64), described(w, 16));
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y + blockIdx.x * 1024, d);
}
