/* rkb-kernel: 1
task: fp16_groupnorm_silu
direction: backward
tune:
  BLOCK: {default: 256, choices: [128, 256, 512]}
let:
  plane: H * W
scratch:
  moments: {dtype: float32, shape: "N * G, 2"}
  of_plane: {dtype: float32, shape: "N * C, 2"}
launches:
  - kernel: group_moments<512>
    grid: N * G
    block: 512
    args: x, moments, eps, each * plane
  - kernel: plane_sums<BLOCK>
    grid: N * C
    block: BLOCK
    args: grad_y, x, weight, bias, moments, of_plane, C, each, plane
  - kernel: grad_input<BLOCK>
    grid: ceildiv(plane, 4 * BLOCK) * N * C
    block: BLOCK
    args: grad_y, x, weight, bias, moments, of_plane, grad_x, C, each, plane
  - kernel: grad_channels
    grid: ceildiv(C, 64)
    block: 64
    args: of_plane, grad_weight, grad_bias, N, C
*/

/* With m and r the mean and 1 / sqrt(variance + eps) of a group of D values, h = (x - m) r, z = h weight + bias and s = sigmoid(z), the gradient of
 * z is g = grad_y s (1 + z (1 - s)).  Then grad_x = r (g weight - mean(g weight) - h mean(g weight h)), grad_weight = sum of g h and
 * grad_bias = sum of g.
 *
 * The first launch finds m and r of each group, the second the sums of g and g h of each plane, the third adds those of a group, and the
 * fourth adds them over the samples.  Sums are fp32 and always in the same order. */

#include <cuda_fp16.h>

/* The first barrier lets it be called again while slow threads still read the numbers of the call before. */
template <int block> __device__ float2 block_sums(float first, float second) {
   __shared__ float2 of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2) {
      first += __shfl_xor_sync(0xffffffffu, first, distance);
      second += __shfl_xor_sync(0xffffffffu, second, distance);
   }
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = make_float2(first, second);
   __syncthreads();
   float2 total = of_warp[0];
   for (int warp = 1; warp < block / 32; warp++) {
      total.x += of_warp[warp].x;
      total.y += of_warp[warp].y;
   }
   return total;
}

__device__ float grad_normalised(__half grad_y, float h, float weight, float bias) {
   const float z = h * weight + bias, s = 1.0f / (1.0f + expf(-z));
   return __half2float(grad_y) * (s * (1.0f + z * (1.0f - s)));
}

template <int block> __global__ void __launch_bounds__(block) group_moments(const __half *x, float *moments, float eps, int count) {
   const __half *own = x + (long long)blockIdx.x * count;
   float sum = 0.0f, squares = 0.0f;
   for (int i = threadIdx.x; i < count; i += block)
      sum += __half2float(own[i]);
   const float mean = block_sums<block>(sum, 0.0f).x / count;
   for (int i = threadIdx.x; i < count; i += block) {
      const float apart = __half2float(own[i]) - mean;
      squares += apart * apart;
   }
   const float variance = block_sums<block>(squares, 0.0f).x / count;
   if (threadIdx.x == 0) {
      moments[2ll * blockIdx.x] = mean;
      moments[2ll * blockIdx.x + 1] = rsqrtf(variance + eps);
   }
}

template <int block>
__global__ void __launch_bounds__(block)
   plane_sums(const __half *grad_y, const __half *x, const __half *weight, const __half *bias, const float *moments, float *of_plane, int C,
              int each, int plane) {
   const int channel = blockIdx.x % C;
   const long long first = (long long)blockIdx.x * plane, group = blockIdx.x / each;
   const float mean = moments[2 * group], r = moments[2 * group + 1];
   const float w = __half2float(weight[channel]), b = __half2float(bias[channel]);
   float products = 0.0f, grads = 0.0f;
   for (int i = threadIdx.x; i < plane; i += block) {
      const float h = (__half2float(x[first + i]) - mean) * r, g = grad_normalised(grad_y[first + i], h, w, b);
      products += g * h;
      grads += g;
   }
   const float2 sums = block_sums<block>(products, grads);
   if (threadIdx.x == 0) {
      of_plane[2ll * blockIdx.x] = sums.x;
      of_plane[2ll * blockIdx.x + 1] = sums.y;
   }
}

template <int block>
__global__ void __launch_bounds__(block)
   grad_input(const __half *grad_y, const __half *x, const __half *weight, const __half *bias, const float *moments, const float *of_plane,
              __half *grad_x, int C, int each, int plane) {
   const int slices = (plane + 4 * block - 1) / (4 * block), own = blockIdx.x / slices, slice = blockIdx.x % slices;
   const int channel = own % C, group = own / each, first_channel = channel / each * each;
   const float mean = moments[2ll * group], r = moments[2ll * group + 1];
   float products = 0.0f, grads = 0.0f;
   for (int i = 0; i < each; i++) {
      const float w = __half2float(weight[first_channel + i]);
      products += w * of_plane[2 * ((long long)group * each + i)];
      grads += w * of_plane[2 * ((long long)group * each + i) + 1];
   }
   const float count = (float)each * plane, mean_grad = grads / count, pull = products / count;
   const float w = __half2float(weight[channel]), b = __half2float(bias[channel]);
#pragma unroll
   for (int i = 0; i < 4; i++) {
      const int at = (slice * 4 + i) * block + threadIdx.x;
      if (at < plane) {
         const long long place = (long long)own * plane + at;
         const float h = (__half2float(x[place]) - mean) * r, g = grad_normalised(grad_y[place], h, w, b);
         grad_x[place] = __float2half(r * (g * w - mean_grad - h * pull));
      }
   }
}

__global__ void __launch_bounds__(64) grad_channels(const float *of_plane, __half *grad_weight, __half *grad_bias, int N, int C) {
   const int channel = blockIdx.x * 64 + threadIdx.x;
   if (channel >= C)
      return;
   float products = 0.0f, grads = 0.0f;
   for (int n = 0; n < N; n++) {
      products += of_plane[2 * ((long long)n * C + channel)];
      grads += of_plane[2 * ((long long)n * C + channel) + 1];
   }
   grad_weight[channel] = __float2half(products);
   grad_bias[channel] = __float2half(grads);
}
