/* rkb-kernel: 1
task: mnist_cross_entropy
direction: backward
tune:
  WARPS: {default: 8, choices: [1, 2, 4, 8]}
launches:
  - kernel: grad_of_rows<WARPS, 1>
    when: C <= 32
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: grad_loss, predictions, targets, grad_predictions, N, C
  - else:
    kernel: grad_of_rows<WARPS, 4>
    when: C <= 128
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: grad_loss, predictions, targets, grad_predictions, N, C
  - else:
    kernel: grad_of_rows<WARPS, 0>
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: grad_loss, predictions, targets, grad_predictions, N, C
*/

/* grad = (softmax(x) - (class is the target)) * grad_loss / N.  One warp owns one row.  Everything a row needs, its target and the
 * loss's gradient too, is asked for at once, before the first shuffle waits: the way there and back is most of the time.  A row of up to
 * 128 classes stays in registers, a longer one is read three times. */

__device__ float warp_sum(float value) {
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   return value;
}

__device__ float warp_max(float value) {
   for (int distance = 16; distance > 0; distance /= 2)
      value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
   return value;
}

template <int warps, int each>
__global__ void __launch_bounds__(32 * warps)
   grad_of_rows(const float *grad_loss, const float *predictions, const long long *targets, float *grad_predictions, int N, int C) {
   const int lane = threadIdx.x % 32, index = blockIdx.x * warps + threadIdx.x / 32;
   if (index >= N)
      return; /* the same for a whole warp */
   const long long target = targets[index];
   const float scale = grad_loss[0] / N;
   const float *row = predictions + (long long)index * C;
   float *out = grad_predictions + (long long)index * C;
   float largest = -3.402823466e38f, sum = 0.0f;
   if (each > 0) {
      float value[each > 0 ? each : 1];
#pragma unroll
      for (int k = 0; k < each; k++)
         value[k] = lane + 32 * k < C ? row[lane + 32 * k] : -3.402823466e38f;
#pragma unroll
      for (int k = 0; k < each; k++)
         largest = fmaxf(largest, value[k]);
      largest = warp_max(largest);
#pragma unroll
      for (int k = 0; k < each; k++) {
         value[k] = lane + 32 * k < C ? __expf(value[k] - largest) : 0.0f;
         sum += value[k];
      }
      const float inverse = 1.0f / warp_sum(sum);
#pragma unroll
      for (int k = 0; k < each; k++)
         if (lane + 32 * k < C)
            out[lane + 32 * k] = (value[k] * inverse - (lane + 32 * k == target ? 1.0f : 0.0f)) * scale;
      return;
   }
   for (int i = lane; i < C; i += 32)
      largest = fmaxf(largest, row[i]);
   largest = warp_max(largest);
   for (int i = lane; i < C; i += 32)
      sum += expf(row[i] - largest);
   const float inverse = 1.0f / warp_sum(sum);
   for (int i = lane; i < C; i += 32)
      out[i] = (expf(row[i] - largest) * inverse - (i == target ? 1.0f : 0.0f)) * scale;
}
