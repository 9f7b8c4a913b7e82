// why: a launch without clusters has no second block to name
// buffer: y out f32 32
// launch: rank grid=1 block=32 args=y
// expect: pass
// broken: reject sync.cluster
#ifndef BROKEN
#define RANK 0
#else
#define RANK 1
#endif
extern "C" __global__ void rank(float *y) {
   __shared__ float room[32];
   unsigned peer;
   float value;
   room[threadIdx.x] = threadIdx.x;
   asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
   asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"((unsigned)__cvta_generic_to_shared(&room[31 - threadIdx.x])), "n"(RANK));
   asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(peer) : "memory");
   y[threadIdx.x] = value;
}
