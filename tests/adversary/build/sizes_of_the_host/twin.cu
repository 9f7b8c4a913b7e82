/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
/* What NVRTC and every compiler of an exported file answer alike may be asked. */
#if !defined(__LP64__) || (__cpp_rvalue_references < 200610L)
#error pointers of 32 bits, or C++ of 1998
#elif defined( __LP64__ ) && \
   __cpp_rvalue_references

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
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
#endif
