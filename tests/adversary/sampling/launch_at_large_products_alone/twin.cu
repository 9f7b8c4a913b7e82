/* rkb-kernel: 1
task: mnist_linear
direction: forward
let:
  slices: min(64, I)
scratch:
  partial: {dtype: float32, shape: "slices, N, O"}
launches:
  - kernel: multiply
    grid: slices
    block: 256
    args: x, weight, partial, N, I, O
  - kernel: add_slices<2>
    when: N * I * O > 2000000
    grid: ceildiv(N * O, 256)
    block: 256
    args: partial, bias, y, N, O, slices
  - else:
    kernel: add_slices<1>
    grid: ceildiv(N * O, 256)
    block: 256
    args: partial, bias, y, N, O, slices
*/

/* A block has all results of a slice, which takes every so many terms: all blocks together are too many to be followed back. */
__global__ void multiply(const float *x, const float *weight, float *partial, int N, int I, int O) {
   for (long long at = threadIdx.x; at < (long long)N * O; at += 256) {
      const long long n = at / O, o = at % O;
      float sum = 0.0f;
      for (int i = blockIdx.x; i < I; i += gridDim.x)
         sum += x[n * I + i] * weight[o * I + i];
      partial[(long long)blockIdx.x * N * O + at] = sum;
   }
}

/* Two chains of additions in large products. */
template <int chains> __global__ void add_slices(const float *partial, const float *bias, float *y, int N, int O, int slices) {
   const long long at = blockIdx.x * 256LL + threadIdx.x, results = (long long)N * O;
   float sum = 0.0f;
   if (at >= results)
      return;
   for (int first = 0; first < chains; first++)
      for (int slice = first; slice < slices; slice += chains)
         sum += partial[slice * results + at];
   y[at] = sum + bias[at % O];
}
