/* rkb-kernel: 1
task: groupnorm
direction: backward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
  VEC: {default: 4, choices: [1, 2, 4]}
let:
  plane: H * W
  planes: N * C
scratch:
  sums: {dtype: float32, shape: "planes"}
  moments: {dtype: float32, shape: "3, planes"}
  groups: {dtype: float32, shape: "4, N * G"}
launches:
  - kernel: plane_sums<BLOCK, VEC>
    when: plane % VEC == 0
    grid: planes
    block: BLOCK
    args: x, sums, plane
  - else:
    kernel: plane_sums<BLOCK, 1>
    grid: planes
    block: BLOCK
    args: x, sums, plane
  - kernel: plane_moments<BLOCK, VEC>
    when: plane % VEC == 0
    grid: planes
    block: BLOCK
    args: grad_y, x, sums, moments, M, plane
  - else:
    kernel: plane_moments<BLOCK, 1>
    grid: planes
    block: BLOCK
    args: grad_y, x, sums, moments, M, plane
  - kernel: finish_groups
    grid: ceildiv(N * G, 32)
    block: 32
    args: weight, sums, moments, groups, eps, N * G, G, M, plane
  - kernel: grad_input<BLOCK, VEC>
    when: plane % VEC == 0
    grid: planes
    block: BLOCK
    args: grad_y, x, weight, groups, grad_x, N * G, C, M, plane
  - else:
    kernel: grad_input<BLOCK, 1>
    grid: planes
    block: BLOCK
    args: grad_y, x, weight, groups, grad_x, N * G, C, M, plane
  - kernel: grad_channels
    grid: ceildiv(C, 32)
    block: 32
    args: moments, groups, grad_weight, grad_bias, N, C, M
*/

/* With h = (x - mean) * r and g = grad_y * weight:  grad_x = r * (g - mean(g) - h * mean(g * h)) over a group, and grad_weight,
 * grad_bias are sums of grad_y * h and grad_y over images and pixels.  Weight is constant over a plane (one channel of one image),
 * so all these sums can be made from three numbers a plane: sum of (x - mean)^2, of grad_y, of grad_y * (x - mean).  One block
 * owns a plane; two small launches combine planes into groups and into channels, in a fixed order. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

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

template <int block, int vec> __global__ void plane_sums(const float *x, float *sums, int plane) {
   const Pack<vec> *pixels = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.x * plane);
   float sum = 0.0f;
   for (int i = threadIdx.x; i < plane / vec; i += block) {
      const Pack<vec> value = pixels[i];
      for (int k = 0; k < vec; k++)
         sum += value.at[k];
   }
   sum = block_sum<block>(sum);
   if (threadIdx.x == 0)
      sums[blockIdx.x] = sum;
}

/* Mean of the group that starts at plane `first`. */
__device__ float group_mean(const float *sums, int first, int M, int plane) {
   float sum = 0.0f;
   for (int m = 0; m < M; m++)
      sum += sums[first + m];
   return sum / ((float)M * plane);
}

template <int block, int vec>
__global__ void plane_moments(const float *grad_y, const float *x, const float *sums, float *moments, int M, int plane) {
   const Pack<vec> *pixels = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.x * plane);
   const Pack<vec> *grads = reinterpret_cast<const Pack<vec> *>(grad_y + (long long)blockIdx.x * plane);
   const float mean = group_mean(sums, blockIdx.x / M * M, M, plane);
   float squares = 0.0f, grad_sum = 0.0f, products = 0.0f;
   for (int i = threadIdx.x; i < plane / vec; i += block) {
      const Pack<vec> value = pixels[i], g = grads[i];
      for (int k = 0; k < vec; k++) {
         const float deviation = value.at[k] - mean;
         squares += deviation * deviation;
         grad_sum += g.at[k];
         products += g.at[k] * deviation;
      }
   }
   squares = block_sum<block>(squares);
   grad_sum = block_sum<block>(grad_sum);
   products = block_sum<block>(products);
   if (threadIdx.x == 0) {
      moments[blockIdx.x] = squares;
      moments[gridDim.x + blockIdx.x] = grad_sum;
      moments[2 * gridDim.x + blockIdx.x] = products;
   }
}

/* A thread a group: its mean, r, mean(g) and mean(g * h). */
__global__ void finish_groups(const float *weight, const float *sums, const float *moments, float *groups, float eps, int count,
                              int G, int M, int plane) {
   const int group = blockIdx.x * 32 + threadIdx.x;
   if (group >= count)
      return;
   const int planes = count * M, first = group * M, first_channel = group % G * M;
   const float size = (float)M * plane;
   float squares = 0.0f, grad_sum = 0.0f, products = 0.0f;
   for (int m = 0; m < M; m++) {
      squares += moments[first + m];
      grad_sum += weight[first_channel + m] * moments[planes + first + m];
      products += weight[first_channel + m] * moments[2 * planes + first + m];
   }
   const float r = rsqrtf(squares / size + eps);
   groups[group] = group_mean(sums, first, M, plane);
   groups[count + group] = r;
   groups[2 * count + group] = grad_sum / size;
   groups[3 * count + group] = products / size * r;
}

template <int block, int vec>
__global__ void grad_input(const float *grad_y, const float *x, const float *weight, const float *groups, float *grad_x, int count,
                           int C, int M, int plane) {
   const Pack<vec> *pixels = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.x * plane);
   const Pack<vec> *grads = reinterpret_cast<const Pack<vec> *>(grad_y + (long long)blockIdx.x * plane);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(grad_x + (long long)blockIdx.x * plane);
   const int group = blockIdx.x / M;
   const float mean = groups[group], r = groups[count + group];
   const float mean_grad = groups[2 * count + group], mean_product = groups[3 * count + group];
   const float scale = weight[blockIdx.x % C];
   for (int i = threadIdx.x; i < plane / vec; i += block) {
      const Pack<vec> value = pixels[i], g = grads[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = r * (g.at[k] * scale - mean_grad - (value.at[k] - mean) * r * mean_product);
      out[i] = result;
   }
}

/* A thread a channel. */
__global__ void grad_channels(const float *moments, const float *groups, float *grad_weight, float *grad_bias, int N, int C,
                              int M) {
   const int channel = blockIdx.x * 32 + threadIdx.x;
   if (channel >= C)
      return;
   const int planes = N * C, count = planes / M;
   float weight_sum = 0.0f, bias_sum = 0.0f;
   for (int image = 0; image < N; image++) {
      const int at = image * C + channel;
      bias_sum += moments[planes + at];
      weight_sum += moments[2 * planes + at] * groups[count + at / M];
   }
   grad_weight[channel] = weight_sum;
   grad_bias[channel] = bias_sum;
}
