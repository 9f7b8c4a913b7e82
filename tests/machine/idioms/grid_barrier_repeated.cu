// why: a barrier across the grid with a generation, passed three times and in every run again; the twin never resets its count, so
// why: the second time nobody waits
// buffer: x in f32 256 noise
// buffer: a scratch f32 256
// buffer: b scratch f32 256
// buffer: y out f32 256
// launch: steps grid=4 block=64 args=x,a,b,y
// resident: 4
// runs: 2
// why: its counter goes on from launch to launch, and nobody can tell that from a kernel that counts its launches
// expect: suspect state.kept
// broken: reject race.global
__device__ unsigned arrived = 0, generation = 0;
static __device__ void grid_barrier() {
   __syncthreads();
   if (threadIdx.x == 0) {
      const unsigned mine = *(volatile unsigned *)&generation;
      __threadfence();
#ifdef BROKEN
      if (atomicAdd(&arrived, 1) >= gridDim.x - 1) {
#else
      if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
         arrived = 0;
#endif
         __threadfence();
         atomicAdd(&generation, 1);
      } else {
         while (*(volatile unsigned *)&generation == mine)
            ;
      }
      __threadfence();
   }
   __syncthreads();
}
extern "C" __global__ void steps(const float *x, float *a, float *b, float *y) {
   const int t = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
   for (int step = 0; step < 3; step++) {
      const float *from = step % 2 ? b : a;
      float *to = step % 2 ? a : b;
      to[t] = step ? from[count - 1 - t] + 1 : x[t];
      grid_barrier();
   }
   y[t] = b[count - 1 - t];
}
