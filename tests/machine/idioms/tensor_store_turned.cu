// why: a fragment as mma leaves it is stored as rows of a tile; the broken one stores each eight by eight of it turned
// buffer: y out i32 128
// launch: rows grid=1 block=32 args=y
// expect: pass
// broken: reject plan.trap
#ifndef BROKEN
#define TURNED ""
#else
#define TURNED ".trans"
#endif
extern "C" __global__ void rows(int *y) {
   __shared__ __align__(16) unsigned short room[16 * 16];
   const int t = threadIdx.x;
   unsigned r[4];
   for (int n = 0; n < 4; n++) {
      const unsigned first = (t / 4 + n % 2 * 8) * 16 + t % 4 * 2 + n / 2 * 8;
      r[n] = first | first + 1 << 16;
   }
   asm volatile("stmatrix.sync.aligned.m8n8.x4" TURNED ".shared.b16 [%0], {%1, %2, %3, %4};"
                :: "r"((unsigned)__cvta_generic_to_shared(&room[t % 16 * 16 + t / 16 * 8])), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
   __syncwarp();
   for (int n = t; n < 256; n += 32)
      if (room[n] != n)
         __trap();
   for (int n = 0; n < 4; n++)
      y[t + 32 * n] = n;
}
