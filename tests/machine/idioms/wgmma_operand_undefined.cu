// why: an operand that a product has read is changed, and the next product reads it; the broken one leaves an element there that was never given
// why: a value, so that the second product has none, though the first had
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 1024
// launch: k grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject memory.uninitialised
#include "warpgroups.cuh"
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sa[1024], sb[256];
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   fill(sa, a, 64);
   fill(sb, b, 16);
   proxy_fence();
   __syncthreads();
   hold(d);
   group_fence();
   multiply<1>(d, plain(sa, 64), plain(sb, 16));
   group_commit();
   group_wait<0>();
   __syncthreads();
   if (threadIdx.x == 0)
      asm volatile("{ .reg .b16 value;\n"
#ifndef BROKEN
                   "mov.b16 value, 0x3c00;\n"
#endif
                   "st.shared.b16 [%0], value; }" :: "r"((unsigned)ROOM(sb)) : "memory");
   proxy_fence();
   __syncthreads();
   hold(d);
   group_fence();
   multiply<1>(d, plain(sa, 64), plain(sb, 16));
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y, d);
}
