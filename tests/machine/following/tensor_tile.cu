// why: tiles through shared memory, ldmatrix, mma of TF32 and bfloat16, stmatrix and wmma: nothing depends on what the inputs hold
// follows: yes
// buffer: a in f32 1024 noise
// buffer: b in f32 1024 noise
// buffer: y out f32 1024
// buffer: z out i32 256
// launch: tile grid=2 block=64 args=a,b,y,z
// expect: pass
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void tile(const float *a, const float *b, float *y, int *z) {
   __shared__ __align__(16) float sa[16][16], sb[8][16];
   __shared__ __align__(16) unsigned rows[2][128];
   const int t = threadIdx.x, lane = t % 32, warp = t / 32;
   const float *pa = a + blockIdx.x * 512, *pb = b + blockIdx.x * 512;
   float d[4] = {0.5f, 0, 0, pb[lane]};
   for (int k = 0; k < 32; k += 16) {
      __syncthreads();
      for (int n = t; n < 256; n += 64)
         sa[n / 16][n % 16] = pa[n / 16 * 32 + k + n % 16];
      for (int n = t; n < 128; n += 64)
         sb[n / 16][n % 16] = pb[n / 16 * 32 + k + n % 16];
      __syncthreads();
      for (int h = 0; h < 16; h += 8) {
         unsigned r[4], c[2];
         asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                      : "r"((unsigned)__cvta_generic_to_shared(&sa[lane % 16][h + lane / 16 * 4])) : "memory");
         asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(c[0]), "=r"(c[1])
                      : "r"((unsigned)__cvta_generic_to_shared(&sb[lane % 8][h + lane / 8 % 2 * 4])) : "memory");
         asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(c[0]), "r"(c[1]));
         asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(c[0]));
      }
   }
   asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                :: "r"((unsigned)__cvta_generic_to_shared(&rows[warp][lane * 4])), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]) : "memory");
   __syncthreads();
   for (int n = 0; n < 2; n++)
      z[blockIdx.x * 128 + t + 64 * n] = (int)(rows[n][t] * 3 + rows[n][t + 64]);
   wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
   wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
   wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
   wmma::load_matrix_sync(sum, pa + warp * 256, 16, wmma::mem_col_major);
   for (int k = 0; k < 16; k += 8) {
      wmma::load_matrix_sync(fa, &sa[0][k], 16);
      wmma::load_matrix_sync(fb, pb + k, 16);
      wmma::mma_sync(sum, fa, fb, sum);
   }
   wmma::store_matrix_sync(y + blockIdx.x * 512 + warp * 256, sum, 16, wmma::mem_row_major);
}
