/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
maps:
  flat: {buffer: x, dims: "min(rows * D, 2147483647)", box: 36}
launches:
  - kernel: rmsnorm
    grid: rows
    block: 32
    args: weight, y, eps, D, flat
    when: rows * D < 2147483648
  - kernel: plain
    grid: rows
    block: 32
    args: x, weight, y, eps, D
    when: rows * D >= 2147483648
*/

struct alignas(64) tensor_map { char bytes[128]; };

__global__ void rmsnorm(const float *weight, float *y, float eps, int D, const __grid_constant__ tensor_map flat) {
   __shared__ __align__(128) float room[36];
   __shared__ __align__(8) unsigned long long full;
   const unsigned at = (unsigned)__cvta_generic_to_shared(room), bar = (unsigned)__cvta_generic_to_shared(&full);
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f, inverse = 0.0f;
   if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
   }
   __syncwarp();
   unsigned turn = 0;
   for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < D; i += 32, turn++) {
         __syncwarp();
         if (threadIdx.x == 0) {
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 144;" ::"r"(bar) : "memory");
            asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(at), "l"(&flat), "r"((int)blockIdx.x * D + i & ~3), "r"(bar) : "memory");
         }
         unsigned done = 0;
         while (!done)
            asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(bar), "r"(turn & 1) : "memory");
         const float value = i + (int)threadIdx.x < D ? room[((int)blockIdx.x * D + i & 3) + threadIdx.x] : 0.0f;
         if (pass == 0)
            squares += value * value;
         else if (i + (int)threadIdx.x < D)
            out[i + threadIdx.x] = value * inverse * weight[i + threadIdx.x];
      }
      for (int distance = 16; distance > 0; distance /= 2)
         squares += __shfl_xor_sync(0xffffffffu, squares, distance);
      inverse = rsqrtf(squares / D + eps);
   }
}

__global__ void plain(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
