/* rkb-kernel: 1
task: mnist_conv_relu_pool
direction: backward
tune:
  BLOCK: {default: 128, choices: [32, 64, 128, 256]}
  SLICES: {default: 16, choices: [1, 4, 16, 64]}
let:
  windows: N * K * P * Q
  slice_windows: ceildiv(N * P * Q, SLICES)
scratch:
  winner: {dtype: int32, shape: "N, K, P, Q"}
  partial_weight: {dtype: float32, shape: "SLICES, K, C, 9"}
  partial_bias: {dtype: float32, shape: "SLICES, K"}
launches:
  - kernel: find_winner<BLOCK>
    grid: ceildiv(windows, BLOCK)
    block: BLOCK
    args: x, weight, bias, winner, C, H, W, K, P, Q, windows
  - kernel: grad_input<BLOCK>
    grid: ceildiv(N * C * H * W, BLOCK)
    block: BLOCK
    args: grad_y, weight, winner, grad_x, C, H, W, K, P, Q, N * C * H * W
  - kernel: grad_weight_slice<BLOCK>
    grid: C, K, SLICES
    block: BLOCK
    args: grad_y, x, winner, partial_weight, partial_bias, C, H, W, K, P, Q, N * P * Q, slice_windows
  - kernel: sum_slices<BLOCK>
    grid: ceildiv(K * C * 9, BLOCK)
    block: BLOCK
    args: partial_weight, grad_weight, K * C * 9, SLICES
  - kernel: sum_slices<BLOCK>
    grid: ceildiv(K, BLOCK)
    block: BLOCK
    args: partial_bias, grad_bias, K, SLICES
*/

/* Of the four convolution results under a pooled pixel at most one receives a gradient: the first largest one, if it is above
 * zero.  The first launch computes the convolution again and notes which (0 to 3, or -1).  Then a thread owns an input value and
 * gathers, and a block owns the nine taps of one pair of channels over a slice of the pooled pixels; a last launch adds the
 * slices in their order. */

/* Sum over the block, returned to every thread: shuffles inside a warp, then one number a warp through shared memory.
 * The first barrier lets it be called again while slow threads still read the numbers of the call before. */
template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float total = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      total += of_warp[warp];
   return total;
}

template <int block>
__global__ void find_winner(const float *x, const float *weight, const float *bias, int *winner, int C, int H, int W, int K,
                            int P, int Q, long long windows) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= windows)
      return;
   const int k = i / (P * Q) % K, top = i / Q % P * 2, left = i % Q * 2;
   const long long image = i / (P * Q) / K;
   float sum[4] = {};
   for (int c = 0; c < C; c++) {
      const float *corner = x + ((image * C + c) * H + top) * W + left;
      const float *taps = weight + ((long long)k * C + c) * 9;
      for (int tap = 0; tap < 9; tap++)
         for (int window = 0; window < 4; window++)
            sum[window] += taps[tap] * corner[(window / 2 + tap / 3) * W + window % 2 + tap % 3];
   }
   int best = 0;
   float largest = sum[0];
   for (int window = 1; window < 4; window++)
      if (sum[window] > largest || sum[window] != sum[window]) {
         largest = sum[window];
         best = window;
      }
   winner[i] = largest + bias[k] <= 0.0f ? -1 : best;
}

template <int block>
__global__ void grad_input(const float *grad_y, const float *weight, const int *winner, float *grad_x, int C, int H, int W, int K,
                           int P, int Q, long long count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= count)
      return;
   const int h = i / W % H, w = i % W, c = i / ((long long)H * W) % C;
   const long long image = i / ((long long)H * W) / C;
   float sum = 0.0f;
   for (int tap = 0; tap < 9; tap++) {
      const int row = h - tap / 3, column = w - tap % 3; /* of the convolution's result */
      if (row < 0 || column < 0 || row / 2 >= P || column / 2 >= Q)
         continue;
      const int window = row % 2 * 2 + column % 2;
      for (int k = 0; k < K; k++) {
         const long long pooled = ((image * K + k) * P + row / 2) * Q + column / 2;
         if (winner[pooled] == window)
            sum += grad_y[pooled] * weight[((long long)k * C + c) * 9 + tap];
      }
   }
   grad_x[i] = sum;
}

template <int block>
__global__ void grad_weight_slice(const float *grad_y, const float *x, const int *winner, float *partial_weight,
                                  float *partial_bias, int C, int H, int W, int K, int P, int Q, int windows,
                                  int slice_windows) {
   const int c = blockIdx.x, k = blockIdx.y;
   const int first = blockIdx.z * slice_windows, last = min(first + slice_windows, windows);
   float taps[9] = {}, total = 0.0f;
   for (int i = first + threadIdx.x; i < last; i += block) {
      const long long image = i / (P * Q), pooled = (image * K + k) * P * Q + i % (P * Q);
      const int which = winner[pooled];
      if (which < 0)
         continue;
      const int top = i / Q % P * 2 + which / 2, left = i % Q * 2 + which % 2;
      const float grad = grad_y[pooled];
      const float *corner = x + ((image * C + c) * H + top) * W + left;
      total += grad;
      for (int tap = 0; tap < 9; tap++)
         taps[tap] += grad * corner[tap / 3 * W + tap % 3];
   }
   for (int tap = 0; tap < 9; tap++) {
      const float sum = block_sum<block>(taps[tap]);
      if (threadIdx.x == 0)
         partial_weight[(((long long)blockIdx.z * K + k) * C + c) * 9 + tap] = sum;
   }
   total = block_sum<block>(total);
   if (threadIdx.x == 0 && c == 0)
      partial_bias[(long long)blockIdx.z * K + k] = total;
}

/* out[i] = sum of the slices' element i, in their order: the same result at every run. */
template <int block> __global__ void sum_slices(const float *slices, float *out, long long count, int slice_count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= count)
      return;
   float sum = 0.0f;
   for (int slice = 0; slice < slice_count; slice++)
      sum += slices[slice * count + i];
   out[i] = sum;
}
