// why: one lane counts its block and the other lanes of the warp read what other blocks wrote; without __syncwarp() nothing orders them behind the lane's fence
// buffer: x in f32 1024 noise
// buffer: partial scratch f32 128
// buffer: count scratch i32 1 zero
// buffer: y out f32 32
// launch: sum grid=4 block=32 args=x,partial,count,y
// runs: 2
// expect: pass
// broken: reject race.global
extern "C" __global__ void sum(const float *x, float *partial, unsigned *count, float *y) {
   const int lane = threadIdx.x;
   float total = 0;
   for (int i = 0; i < 8; i++)
      total += x[blockIdx.x * 256 + i * 32 + lane];
   partial[blockIdx.x * 32 + lane] = total;
   __threadfence();
   __syncwarp();
   unsigned before = 0;
   if (lane == 0)
      before = atomicAdd(count, 1);
   before = __shfl_sync(0xffffffffu, before, 0);
   if (before != 3)
      return;
#ifndef BROKEN
   __threadfence();
   __syncwarp();
#endif
   float all = 0;
   for (int b = 0; b < 4; b++)
      all += __ldcg(partial + b * 32 + (lane ^ 1));
   y[lane] = all;
}
