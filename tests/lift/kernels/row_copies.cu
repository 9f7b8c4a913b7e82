/* rkb-kernel: 1
task: mnist_linear
direction: forward
launches:
  - kernel: linear
    grid: O, N
    block: 32
    args: x, weight, bias, y, I, O
*/

/* One result a block: 64 numbers of both rows at a time through shared memory. */

struct Rows {
   const float *data;
   int pitch;
   __device__ float at(int row, int k) const { return data[row * pitch + k]; }
};

__device__ void copy(float (&tile)[2][32], const Rows &matrix, int row, int first, int last) {
   for (int i = threadIdx.x; i < 2 * 32; i += 32) {
      const int half = i / 32;
      const int k = i % 32;
      tile[half][k] = first + half * 32 + k < last ? matrix.at(row, first + half * 32 + k) : 0.0f;
   }
}

__global__ void linear(const float *x, const float *weight, const float *bias, float *y, int I, int O) {
   __shared__ float left[2][32], right[2][32];
   float sum = 0.0f;
   for (int first = 0; first < I; first += 64) {
      copy(left, Rows{x, I}, blockIdx.y, first, I);
      copy(right, Rows{weight, I}, blockIdx.x, first, I);
      __syncthreads();
      sum += left[0][threadIdx.x] * right[0][threadIdx.x] + left[1][threadIdx.x] * right[1][threadIdx.x];
      __syncthreads();
   }
   for (int other = 16; other > 0; other /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, other);
   if (threadIdx.x == 0)
      y[blockIdx.y * O + blockIdx.x] = sum + bias[blockIdx.x];
}
