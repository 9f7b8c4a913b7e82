// why: stmatrix writes rows for all lanes: who reads them waits, and rows lie where they may
// buffer: x in i32 128 ramp
// buffer: y out i32 128
// launch: rows grid=1 block=32 args=x,y
// expect: pass
// broken: reject memory.misaligned
extern "C" __global__ void rows(const int *x, int *y) {
   __shared__ __align__(16) int room[160];
   const int t = threadIdx.x;
#ifdef BROKEN
   const unsigned to = (unsigned)__cvta_generic_to_shared(&room[t * 5]);
#else
   const unsigned to = (unsigned)__cvta_generic_to_shared(&room[t * 4]);
#endif
   asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                :: "r"(to), "r"(x[t]), "r"(x[t + 32]), "r"(x[t + 64]), "r"(x[t + 96]) : "memory");
   __syncwarp();
   for (int n = 0; n < 4; n++)
      y[t + 32 * n] = room[t + 32 * n];
}
