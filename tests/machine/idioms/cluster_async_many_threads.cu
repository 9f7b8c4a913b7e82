// why: each thread of a large cluster counts its own groups of copies; past the first 1,024 threads, too, a read of the second group must wait
// buffer: x in f32 3072 ramp
// buffer: y out f32 3072
// launch: turn grid=8 cluster=8 block=192 args=x,y
// expect: pass
// broken: reject race.async
#include "clusters.cuh"
extern "C" __global__ void turn(const float *x, float *y) {
   __shared__ float room[2][192];
   const int t = threadIdx.x, at = blockIdx.x * 192 + t;
   for (int part = 0; part < 2; part++) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&room[part][t])), "l"(x + part * 1536 + at) : "memory");
      asm volatile("cp.async.commit_group;" ::: "memory");
   }
   cluster_sync();
   asm volatile("cp.async.wait_group 1;" ::: "memory");
   y[at] = room[0][t];
#ifdef BROKEN
   if (blockIdx.x < 7)
#endif
      asm volatile("cp.async.wait_group 0;" ::: "memory");
   y[1536 + at] = room[1][t];
   cluster_sync();
}
