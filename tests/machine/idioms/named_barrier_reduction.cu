// why: a reduction over a barrier of two warps; the manual leaves open what comes of one that another warp only arrives at
// buffer: x in f32 64 noise
// buffer: y out i32 64
// launch: count grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void count(const float *x, int *y) {
   int t = threadIdx.x, positive = x[t] > 0, sum = 0;
#ifdef BROKEN
   if (t >= 32) {
      asm volatile("bar.arrive 4, 64;" ::: "memory");
   } else
#endif
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 4, 64, p; }" : "=r"(sum) : "r"(positive) : "memory");
   y[t] = sum;
}
