/* rkb-kernel: 1
task: groupnorm
direction: backward
tune:
  BLOCK: {default: 128, choices: [128, 256, 512]}
  EACH: {default: 4, choices: [2, 4]}
let:
  plane: H * W
  vec: if(plane % 4 == 0, 4, 1)
  slice: BLOCK * EACH * vec
  slices: ceildiv(plane, slice)
scratch:
  moments: {dtype: float32, shape: "N * C, slices, 4"}
  of_plane: {dtype: float32, shape: "N * C, 2"}
launches:
  - kernel: moments_of_slice<BLOCK, EACH, 4>
    when: plane % 4 == 0
    grid: slices * N * C
    block: BLOCK
    args: grad_y, x, moments, plane
  - kernel: grad_input<BLOCK, EACH, 4>
    when: plane % 4 == 0
    grid: slices * N * C
    block: BLOCK
    args: grad_y, x, weight, moments, grad_x, of_plane, eps, G, M, plane
  - kernel: moments_of_slice<BLOCK, EACH, 1>
    when: plane % 4 != 0
    grid: slices * N * C
    block: BLOCK
    args: grad_y, x, moments, plane
  - kernel: grad_input<BLOCK, EACH, 1>
    when: plane % 4 != 0
    grid: slices * N * C
    block: BLOCK
    args: grad_y, x, weight, moments, grad_x, of_plane, eps, G, M, plane
  - kernel: grad_channels
    grid: ceildiv(C, 64)
    block: 64
    args: of_plane, grad_weight, grad_bias, N, C
*/

/* With m and r the mean and 1 / sqrt(variance + eps) of a group of D values, h = (x - m) r and g = grad_y * weight:
 * grad_x = r (g - mean(g) - h mean(g h)), grad_weight = sum of grad_y h, grad_bias = sum of grad_y.
 *
 * Many blocks share a plane, a slice each that fits in its registers.  The first launch leaves of every slice: the mean and the squared
 * deviations of x, the sum of grad_y, and the sum of grad_y times x's deviation from the slice's mean.  The second puts a group's slices
 * together (Chan, Golub and LeVeque: 'Updating formulae and a pairwise algorithm for computing sample variances', 1979), in the same order in every
 * block, while its share of x and grad_y is on its way, and leaves the planes' sums; the third adds those over the samples. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

/* Two sums over the block at once, for every thread.
 * The first barrier lets it be called again while slow threads still read the numbers of the call before. */
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
#pragma unroll
   for (int warp = 1; warp < block / 32; warp++) {
      total.x += of_warp[warp].x;
      total.y += of_warp[warp].y;
   }
   return total;
}

/* The blocks of a plane come one after the other, planes along with them: a grid has room for so many in x alone. */
template <int size> struct Place {
   const int slices, image_plane, slice;
   __device__ explicit Place(int plane) : slices((plane + size - 1) / size), image_plane(blockIdx.x / slices), slice(blockIdx.x % slices) {}
};

/* This thread's share of a slice, zero beyond the plane. */
template <int block, int each, int vec> __device__ void load(Pack<vec> (&packs)[each], const float *from, int slice, int plane) {
#pragma unroll
   for (int i = 0; i < each; i++) {
      const int at = ((slice * each + i) * block + threadIdx.x) * vec;
      packs[i] = Pack<vec>{};
      if (at < plane)
         packs[i] = *reinterpret_cast<const Pack<vec> *>(from + at);
   }
}

template <int block, int each, int vec>
__global__ void __launch_bounds__(block, 1280 / block) moments_of_slice(const float *grad_y, const float *x, float *moments, int plane) {
   constexpr int size = block * each * vec;
   const Place<size> place(plane);
   Pack<vec> value[each], grad[each];
   load<block>(value, x + (long long)place.image_plane * plane, place.slice, plane);
   load<block>(grad, grad_y + (long long)place.image_plane * plane, place.slice, plane);
   float sum = 0.0f, grads = 0.0f, squares = 0.0f, products = 0.0f;
#pragma unroll
   for (int i = 0; i < each; i++)
#pragma unroll
      for (int k = 0; k < vec; k++) {
         sum += value[i].at[k];
         grads += grad[i].at[k];
      }
   const int count = min(size, plane - place.slice * size);
   const float2 sums = block_sums<block>(sum, grads);
   const float mean = sums.x / count;
#pragma unroll
   for (int i = 0; i < each; i++)
      if (((place.slice * each + i) * block + threadIdx.x) * vec < plane)
#pragma unroll
         for (int k = 0; k < vec; k++) {
            const float apart = value[i].at[k] - mean;
            squares += apart * apart;
            products += grad[i].at[k] * apart;
         }
   const float2 more = block_sums<block>(squares, products);
   if (threadIdx.x == 0)
      *(float4 *)(moments + 4ll * blockIdx.x) = make_float4(mean, more.x, sums.y, more.y);
}

template <int block, int each, int vec>
__global__ void __launch_bounds__(block, 4)
   grad_input(const float *grad_y, const float *x, const float *weight, const float *moments, float *grad_x, float *of_plane, float eps,
              int G, int M, int plane) {
   constexpr int size = block * each * vec;
   const Place<size> place(plane);
   const int slices = place.slices;
   Pack<vec> value[each], grad[each];
   load<block>(value, x + (long long)place.image_plane * plane, place.slice, plane);
   load<block>(grad, grad_y + (long long)place.image_plane * plane, place.slice, plane);
   const int group = place.image_plane / M, first_channel = group % G * M, count = M * slices;
   const float4 *of_slice = (const float4 *)(moments + 4ll * group * count);
   const float D = (float)M * plane;
   float sum = 0.0f, squares = 0.0f, grads = 0.0f, products = 0.0f;
#pragma unroll 2
   for (int i = threadIdx.x; i < count; i += block) {
      sum += of_slice[i].x * min(size, plane - i % slices * size);
      grads += of_slice[i].z * weight[first_channel + i / slices];
   }
   const float2 sums = block_sums<block>(sum, grads);
   const float mean = sums.x / D;
   for (int i = threadIdx.x; i < count; i += block) {
      const float4 one = of_slice[i];
      const float apart = one.x - mean;
      squares += one.y + apart * apart * min(size, plane - i % slices * size);
      products += (one.w + one.z * apart) * weight[first_channel + i / slices];
   }
   const float2 more = block_sums<block>(squares, products);
   const float r = rsqrtf(more.x / D + eps), mean_grad = sums.y / D, pull = more.y / D * r * r;
   const float factor = weight[first_channel + place.image_plane % M];
#pragma unroll
   for (int i = 0; i < each; i++) {
      const int at = ((place.slice * each + i) * block + threadIdx.x) * vec;
#pragma unroll
      for (int k = 0; k < vec; k++)
         value[i].at[k] = r * (grad[i].at[k] * factor - mean_grad - (value[i].at[k] - mean) * pull);
      if (at < plane)
         *reinterpret_cast<Pack<vec> *>(grad_x + (long long)place.image_plane * plane + at) = value[i];
   }
   if (place.slice > 0)
      return; /* the same for the whole block */
   grads = products = 0.0f;
   for (int i = place.image_plane % M * slices + threadIdx.x; i < (place.image_plane % M + 1) * slices; i += block) {
      grads += of_slice[i].z;
      products += of_slice[i].w + of_slice[i].z * (of_slice[i].x - mean);
   }
   const float2 own = block_sums<block>(products, grads);
   if (threadIdx.x == 0)
      *(float2 *)(of_plane + 2 * (long long)place.image_plane) = make_float2(own.x * r, own.y);
}

__global__ void __launch_bounds__(64, 1) grad_channels(const float *of_plane, float *grad_weight, float *grad_bias, int N, int C) {
   const int channel = blockIdx.x * 64 + threadIdx.x;
   if (channel >= C)
      return;
   float products = 0.0f, grads = 0.0f;
#pragma unroll 4
   for (int n = 0; n < N; n++) {
      const float2 one = *(const float2 *)(of_plane + 2 * ((long long)n * C + channel));
      products += one.x;
      grads += one.y;
   }
   grad_weight[channel] = products;
   grad_bias[channel] = grads;
}
