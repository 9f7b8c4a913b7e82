// why: __syncwarp() orders what lanes of a warp do in global memory; without it a lane may write what another has yet to read
// buffer: x inout f32 128 noise
// buffer: y out f32 128
// launch: rotate grid=2 block=64 args=x,y
// expect: pass
// broken: reject race.global
extern "C" __global__ void rotate(float *x, float *y) {
   int n = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x % 32, first = n - lane;
   float next = x[first + (lane + 1) % 32];
#ifndef BROKEN
   __syncwarp();
#endif
   x[n] = next;
   y[n] = next;
}
