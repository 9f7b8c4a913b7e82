// why: a product of bfloat16 matrices as a fast kernel of sm_80 writes it: cp.async into two buffers, ldmatrix, mma, 128 x 128 a block
// buffer: a in bf16 65536 noise
// buffer: b in bf16 65536 noise
// buffer: y out f32 65536
// launch: gemm grid=2,2 block=256 args=a,b,y
// expect: pass
#define N 256
#define K 256
#define TILE 128
#define STEP 32
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
__device__ __forceinline__ void copy(unsigned to, const unsigned short *from) {
   asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
}
/* Rows of 32 halves, of which pieces of 8 are exchanged so that ldmatrix meets no bank twice. */
__device__ __forceinline__ int place(int row, int piece) {
   return row * STEP + ((piece ^ row >> 1 & 3) << 3);
}
extern "C" __global__ void __launch_bounds__(256) gemm(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(16) unsigned short sa[2][TILE * STEP], sb[2][TILE * STEP];
   const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 4 * 64, wn = warp % 4 * 32;
   a += blockIdx.y * TILE * K;
   b += blockIdx.x * TILE * K; /* column-major: n by k */
   float d[4][4][4] = {};
   for (int step = -1; step < K / STEP; step++) {
      if (step + 1 < K / STEP)
         for (int n = t; n < TILE * STEP / 8; n += 256) {
            const int row = n / 4, piece = n % 4, at = row * K + (step + 1) * STEP + 8 * piece;
            copy(ROOM(&sa[(step + 1) & 1][place(row, piece)]), a + at);
            copy(ROOM(&sb[(step + 1) & 1][place(row, piece)]), b + at);
         }
      asm volatile("cp.async.commit_group;" ::: "memory");
      asm volatile("cp.async.wait_group 1;" ::: "memory");
      __syncthreads();
      for (int k = 0; step >= 0 && k < STEP; k += 16) {
         unsigned ra[4][4], rb[4][2];
         for (int m = 0; m < 4; m++)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(ra[m][0]), "=r"(ra[m][1]), "=r"(ra[m][2]), "=r"(ra[m][3])
                         : "r"(ROOM(&sa[step & 1][place(wm + 16 * m + lane % 16, k / 8 + lane / 16)])) : "memory");
         for (int n = 0; n < 4; n += 2)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(rb[n][0]), "=r"(rb[n][1]), "=r"(rb[n + 1][0]), "=r"(rb[n + 1][1])
                         : "r"(ROOM(&sb[step & 1][place(wn + 8 * n + lane % 8 + lane / 16 * 8, k / 8 + lane / 8 % 2)])) : "memory");
         for (int m = 0; m < 4; m++)
            for (int n = 0; n < 4; n++)
               asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                            : "+f"(d[m][n][0]), "+f"(d[m][n][1]), "+f"(d[m][n][2]), "+f"(d[m][n][3])
                            : "r"(ra[m][0]), "r"(ra[m][1]), "r"(ra[m][2]), "r"(ra[m][3]), "r"(rb[n][0]), "r"(rb[n][1]));
      }
      __syncthreads();
   }
   for (int m = 0; m < 4; m++)
      for (int n = 0; n < 4; n++)
         for (int e = 0; e < 4; e++)
            y[(blockIdx.y * TILE + wm + 16 * m + lane / 4 + 8 * (e / 2)) * N + blockIdx.x * TILE + wn + 8 * n + lane % 4 * 2 + e % 2] = d[m][n][e];
}
