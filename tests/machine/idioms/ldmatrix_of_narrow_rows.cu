// why: a tile that lanes stored as halves is read by ldmatrix after a barrier
// buffer: x in i32 256
// buffer: y out i32 128
// launch: tile grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void tile(const int *x, int *y) {
   __shared__ __align__(16) unsigned short kept[256];
   const int t = threadIdx.x;
   for (int n = 0; n < 4; n++)
      kept[64 * n + t] = (unsigned short)x[64 * n + t];
#ifdef BROKEN
   __syncwarp();
#else
   __syncthreads();
#endif
   unsigned a, b, c, d;
   asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                : "r"((unsigned)__cvta_generic_to_shared(kept) + t % 32 * 16));
   if (t < 32) {
      y[t] = (int)a;
      y[32 + t] = (int)b;
      y[64 + t] = (int)c;
      y[96 + t] = (int)d;
   }
}
