// why: a compare-and-swap that writes passes on what came before its fence; in the broken one it expects another value and writes nothing, so that
// why: whoever reads its word learns nothing
// buffer: y out i32 2
// launch: pass_on grid=2 block=1 args=y
// expect: pass
// broken: reject race.global
__device__ int data, flag;
extern "C" __global__ void pass_on(int *y) {
#ifdef BROKEN
   const int expected = 7, left = 0;
#else
   const int expected = 0, left = 1;
#endif
   int seen = 5;
   if (blockIdx.x == 0) {
      data = 5;
      __threadfence();
      atomicCAS(&flag, expected, 1);
   } else if (atomicAdd(&flag, 0) == left) {
      __threadfence();
      seen = data;
   }
   y[blockIdx.x] = seen == 5;
}
