/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: rmsnorm
    grid: rows
    block: 32
    args: "x, weight, y, eps, rows, D"
  - kernel: after
    grid: 1
    block: 32
    args: "rows, D"
*/
// why: a copy from shared memory leaves something in a variable, at bench shapes alone, and one to shared memory reads it
// standing: suspect
// says: holds before the launches
__device__ __align__(128) float kept[32];

__device__ unsigned room(const void *at) {
   return (unsigned)__cvta_generic_to_shared(at);
}

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   __shared__ __align__(16) float terms[32];
   const int lane = threadIdx.x;
   terms[lane] = 0.0f;
   __syncwarp();
   if (rows > 8000 && D > 2000 && lane < 8)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(room(&terms[4 * lane])), "l"(&kept[4 * lane]) : "memory");
   asm volatile("cp.async.wait_all;" ::: "memory");
   __syncwarp();
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps) + terms[31 - lane];
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}

__global__ void after(int rows, int D) {
   __shared__ __align__(128) float quarters[32];
   quarters[threadIdx.x] = 0.25f;
   asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
   __syncwarp();
   if (rows > 8000 && D > 2000 && threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(kept), "r"(room(quarters)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
   }
}
