// why: lanes of one warp take turns at a lock: independent threads make progress, lockstep would hang
// buffer: y inout i32 1 zero
// launch: add grid=2 block=64 args=y
// expect: pass
// broken: reject race.global
__device__ int lock = 0;
extern "C" __global__ void add(int *y) {
#ifdef BROKEN
   *y += 1;
#else
   while (atomicCAS(&lock, 0, 1) != 0)
      ;
   __threadfence();
   *(volatile int *)y += 1;
   __threadfence();
   atomicExch(&lock, 0);
#endif
}
