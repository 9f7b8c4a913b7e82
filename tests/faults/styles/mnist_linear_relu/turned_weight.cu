/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
scratch:
  turned: {dtype: float32, shape: "I, O"}
launches:
  - kernel: turn
    grid: ceildiv(O, 32), ceildiv(I, 32)
    block: 32, 8
    args: weight, turned, I, O
  - kernel: product
    grid: ceildiv(O, 64), N
    block: 64
    args: x, turned, bias, y, I, O
*/
/* The weight is transposed first, so that neighbours read neighbours. */
__global__ void turn(const float *weight, float *turned, int I, int O) {
   __shared__ float cell[32][33];
   for (int r = threadIdx.y; r < 32; r += 8)
      if (blockIdx.x * 32 + r < O && blockIdx.y * 32 + threadIdx.x < I)
         cell[r][threadIdx.x] = weight[(blockIdx.x * 32 + r) * I + blockIdx.y * 32 + threadIdx.x];
   __syncthreads();
   for (int r = threadIdx.y; r < 32; r += 8)
      if (blockIdx.y * 32 + r < I && blockIdx.x * 32 + threadIdx.x < O)
         turned[(blockIdx.y * 32 + r) * O + blockIdx.x * 32 + threadIdx.x] = cell[threadIdx.x][r];
}

__global__ void product(const float *x, const float *turned, const float *bias, float *y, int I, int O) {
   const int o = blockIdx.x * 64 + threadIdx.x;
   if (o >= O)
      return;
   float s = bias[o];
   for (int k = 0; k < I; k++)
      s += x[blockIdx.y * I + k] * turned[k * O + o];
   y[blockIdx.y * O + o] = s < 0 ? 0 : s;
}
