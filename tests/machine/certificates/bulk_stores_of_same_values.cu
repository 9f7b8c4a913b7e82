/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: two bulk stores write the same bytes in no order, with the same values for all inputs that are tested; a certificate for all values has to say
// why: that others may differ
// standing: accept
// says: {"assumptions":["the PTX is what runs: the compiler below it is trusted","bulk copies that overlap in global memory are taken to write the same values
// says: an integer divided by zero gives all ones","no tested input is infinite, except in tensors that the task calls masked","bulk copies that overlap in global memory are taken
__device__ void store(float *to, const float *from) {
   asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(to), "r"((unsigned)__cvta_generic_to_shared(from)) : "memory");
}
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ __align__(16) float first[4], second[4];
   const int lane = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float sum = 0.0f;
   for (int i = lane; i < D; i += 32)
      sum += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   const float inverse = rsqrtf(sum / D + eps);
   const int copied = D % 4 == 0 ? 4 : 0; /* the other elements are stored by threads */
   if (lane < 4) {
      first[lane] = second[lane] = lane < D ? row[lane] * inverse * weight[lane] : 0.0f;
   }
   asm volatile("fence.proxy.async;" ::: "memory");
   __syncwarp();
   if (lane == 0 && copied) {
      store(out, first);
      store(out, second);
      asm volatile("cp.async.bulk.commit_group;");
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
   }
   for (int i = lane + copied; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
