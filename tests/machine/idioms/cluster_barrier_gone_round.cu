// why: all threads that have not left the kernel come to the barrier of the cluster
// buffer: y out f32 64
// launch: gone_round grid=1 block=64 args=y
// expect: pass
// broken: reject sync.deadlock
extern "C" __global__ void gone_round(float *y) {
   __shared__ float room[64];
   room[threadIdx.x] = threadIdx.x;
   asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
   y[threadIdx.x] = room[63 - threadIdx.x];
   if (threadIdx.x >= 32) {
#ifndef BROKEN
      return;
#else
      asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
   }
   asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#ifdef BROKEN
   asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
}
