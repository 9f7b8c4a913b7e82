// why: every thread fences what it wrote, the barrier collects them, and one thread announces: right because __threadfence() is fence.sc, and wrong when a store comes after its fence
// buffer: x in f32 1024 noise
// buffer: partial scratch f32 256
// buffer: count scratch i32 1 zero
// buffer: y out f32 64
// launch: columns grid=4 block=64 args=x,partial,count,y,1024
// runs: 2
// expect: pass
// broken: reject race.global
extern "C" __global__ void columns(const float *x, float *partial, unsigned *count, float *y, int n) {
   __shared__ bool last;
   float total = 0;
   for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 256)
      total += x[i];
#ifdef BROKEN
   __threadfence();
#endif
   partial[blockIdx.x * 64 + threadIdx.x] = total;
#ifndef BROKEN
   __threadfence();
#endif
   __syncthreads();
   if (threadIdx.x == 0)
      last = atomicAdd(count, 1) == gridDim.x - 1;
   __syncthreads();
   if (!last)
      return;
   __threadfence();
   float all = 0;
   for (int b = 0; b < gridDim.x; b++)
      all += partial[b * 64 + threadIdx.x];
   y[threadIdx.x] = all;
   if (threadIdx.x == 0)
      *count = 0;
}
