// why: the first lane of a warp waits for a flag of another warp, and the others wait for it at __syncwarp(); the release orders both in the block
// buffer: x in f32 64 noise
// buffer: parts scratch f32 32
// buffer: flag scratch i32 1 zero
// buffer: y out f32 32
// launch: pass_on grid=1 block=64 args=x,parts,flag,y
// runs: 2
// expect: pass
// broken: reject race.global
extern "C" __global__ void pass_on(const float *x, float *parts, int *flag, float *y) {
   const int lane = threadIdx.x % 32;
   if (threadIdx.x >= 32) {
      parts[lane] = x[lane] + x[lane + 32];
#ifndef BROKEN
      __syncwarp();
#endif
      if (lane == 0)
         asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
      return;
   }
   if (lane == 0) {
      int set;
      do
         asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
      while (!set);
   }
   const float *from; /* the lanes compute before they wait */
   asm volatile("mul.wide.s32 %0, %1, 4; add.u64 %0, %0, %2;" : "=l"(from) : "r"(lane ^ 1), "l"(parts));
   __syncwarp();
   y[lane] = *from;
}
