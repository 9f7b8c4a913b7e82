// why: the first lane polls until another block has announced itself, and a shuffle names all lanes: they wait for it, however long it polls; a lane that
// why: polls for what a lane behind the shuffle announces polls for ever
// buffer: y out i32 256
// launch: pass_on grid=8 block=32 args=y
// expect: pass
// broken: reject sync.deadlock
__device__ unsigned announced[8];
extern "C" __global__ void pass_on(int *y) {
   const int next = (blockIdx.x + 1) % 8;
   int seen = 0;
#ifdef BROKEN
   if (threadIdx.x == 0)
      while (*(volatile unsigned *)&announced[blockIdx.x] == 0)
         ;
   if (threadIdx.x == 0)
      seen = next;
   seen = __shfl_sync(0xffffffffu, seen, 0);
   if (threadIdx.x == 1)
      atomicAdd(&announced[blockIdx.x], 1u);
#else
   if (threadIdx.x == 0) {
      atomicAdd(&announced[blockIdx.x], 1u);
      while (*(volatile unsigned *)&announced[next] == 0)
         ;
      seen = next;
   }
   seen = __shfl_sync(0xffffffffu, seen, 0);
#endif
   y[blockIdx.x * 32 + threadIdx.x] = seen;
}
