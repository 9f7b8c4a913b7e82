/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
#define Gate0 0.0f
#define Gate1 1.0f
#define huFr0 0.5f
#define huFr1 1.0f
/* Two factors and two addends. */
             static __device__ const float added = Gate1;

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float scale = huFr0;
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i] * scale + added;
}
/* The two texts of this folder have one XXH3-128: where eight bytes of them differ, at bytes 312 and 760, what they add
 * to the sums of the hash is the same (tests/kernel/test_colliding_texts.c). */
