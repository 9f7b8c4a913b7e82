/* rkb-kernel: 1
task: mnist_cross_entropy
direction: forward
tune:
  WARPS: {default: 8, choices: [2, 4, 8, 16, 32]}
let:
  blocks: ceildiv(N, WARPS)
scratch:
  partial: {dtype: float32, shape: "blocks"}
  arrived: {dtype: int32, shape: "1", init: zero}
launches:
  - kernel: mean_loss<WARPS, 1>
    when: C <= 32
    grid: blocks
    block: 32 * WARPS
    args: predictions, targets, partial, arrived, loss, N, C
  - else:
    kernel: mean_loss<WARPS, 4>
    when: C <= 128
    grid: blocks
    block: 32 * WARPS
    args: predictions, targets, partial, arrived, loss, N, C
  - else:
    kernel: mean_loss<WARPS, 0>
    grid: blocks
    block: 32 * WARPS
    args: predictions, targets, partial, arrived, loss, N, C
*/

/* The loss of a row is log(sum(exp(x - largest))) - (x[target] - largest).  One launch: one warp owns one row, and the block that comes last,
 * as a counter tells it, adds up what the others left, in an order of its own that never changes, and sets the counter back.  A row
 * of up to 128 classes stays in registers; its target is asked for at the same time. */

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

/* A row's loss, known to every lane. */
template <int each> __device__ float loss_of_row(const float *row, int target, int C) {
   const int lane = threadIdx.x % 32;
   float largest = -3.402823466e38f, sum = 0.0f, chosen = 0.0f;
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
         if (lane + 32 * k < C)
            sum += expf(value[k] - largest);
         if (lane + 32 * k == target)
            chosen = value[k];
      }
      chosen = warp_sum(chosen); /* of one lane alone */
   } else {
      for (int i = lane; i < C; i += 32)
         largest = fmaxf(largest, row[i]);
      largest = warp_max(largest);
      for (int i = lane; i < C; i += 32)
         sum += expf(row[i] - largest);
      chosen = row[target];
   }
   return logf(warp_sum(sum)) - (chosen - largest);
}

template <int warps, int each>
__global__ void __launch_bounds__(32 * warps)
   mean_loss(const float *predictions, const long long *targets, volatile float *partial, int *arrived, float *loss, int N, int C) {
   __shared__ float part[warps];
   __shared__ bool last;
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.x * warps + warp;
   float value = 0.0f;
   if (row < N) {
      const int target = targets[row];
      value = loss_of_row<each>(predictions + (long long)row * C, target, C);
   }
   if (lane == 0)
      part[warp] = value;
   __syncthreads();
   if (threadIdx.x == 0) {
      float sum = 0.0f;
#pragma unroll
      for (int w = 0; w < warps; w++)
         sum += part[w];
      partial[blockIdx.x] = sum;
      __threadfence();
      last = atomicAdd(arrived, 1) == gridDim.x - 1;
      __threadfence();
   }
   __syncthreads();
   if (!last)
      return;
   float sum = 0.0f;
   for (int i = threadIdx.x; i < gridDim.x; i += 32 * warps)
      sum += partial[i];
   sum = warp_sum(sum);
   if (lane == 0)
      part[warp] = sum;
   __syncthreads();
   if (threadIdx.x == 0) {
      for (int w = 1; w < warps; w++)
         sum += part[w];
      loss[0] = sum / N;
      *arrived = 0;
   }
}
