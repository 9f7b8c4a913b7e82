// why: ldmatrix reads rows that other warps wrote: a barrier comes between, though no plain load is to be seen
// buffer: x in i32 256 ramp
// buffer: y out i32 256
// launch: rows grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void rows(const int *x, int *y) {
   __shared__ __align__(16) int room[2][128];
   const int t = threadIdx.x, warp = t / 32, lane = t % 32;
   for (int n = 0; n < 4; n++)
      room[warp][lane + 32 * n] = x[warp * 128 + lane + 32 * n];
#ifndef BROKEN
   __syncthreads();
#endif
   unsigned d[4];
   asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                : "r"((unsigned)__cvta_generic_to_shared(&room[1 - warp][lane * 4])) : "memory");
   for (int n = 0; n < 4; n++)
      y[warp * 128 + lane + 32 * n] = (int)d[n];
}
