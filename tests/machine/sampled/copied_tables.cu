/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: no kernel writes the tables: each is the source of copies alone, so that no launch can leave anything there
// standing: accept
// never: state.kept
__device__ __align__(128) float ones[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
__device__ const __align__(128) float zeros[32] = {};

__device__ unsigned room(const void *at) {
   return (unsigned)__cvta_generic_to_shared(at);
}

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ __align__(128) float factors[32], terms[32];
   __shared__ __align__(8) unsigned long long barrier;
   const int lane = threadIdx.x;
   if (lane == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(room(&barrier)) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(room(&barrier)) : "memory");
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], 128;" ::"l"(zeros) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(room(terms)), "l"(zeros),
                   "r"(room(&barrier))
                   : "memory");
   }
   if (lane < 8)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(room(&factors[4 * lane])), "l"(&ones[4 * lane]) : "memory");
   asm volatile("cp.async.wait_all;" ::: "memory");
   __syncwarp();
   unsigned done;
   do
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(room(&barrier))
                   : "memory");
   while (!done);
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps) * factors[31 - lane] + terms[31 - lane];
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
