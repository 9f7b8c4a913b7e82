// why: copies that run ahead, with zeros past the end, and the product of what they bring
// follows: yes
// buffer: x in f32 1000 noise
// buffer: y out f32 256
// launch: pipeline grid=2 block=64 args=x,y
// expect: pass
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(ROOM(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
extern "C" __global__ void pipeline(const float *x, float *y) {
   __shared__ __align__(16) float room[2][256];
   const int t = threadIdx.x, first = blockIdx.x * 512;
   float d[4] = {0, 0, 0, 0};
   for (int k = -1; k < 4; k++) {
      if (k < 3) {
         const int at = first + (k + 1) * 128 + 4 * t, left = 1000 - at, bytes = left >= 4 ? 16 : left > 0 ? 4 * left : 0;
         asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(ROOM(&room[(k + 1) & 1][4 * t])), "l"(x + at), "r"(bytes) : "memory");
      }
      COMMIT();
      WAIT(1);
      __syncthreads();
      if (k >= 0) {
         unsigned r[4];
         asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(ROOM(&room[k & 1][t * 4])) : "memory");
         asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%6, %5}, {%0, %1, %2, %3};"
                      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
      }
      __syncthreads();
   }
   for (int n = 0; n < 2; n++)
      y[blockIdx.x * 128 + 64 * n + t] = d[n] + d[n + 2];
}
