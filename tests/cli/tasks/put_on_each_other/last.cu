/* rkb-kernel: 1
task: put_on_each_other
direction: forward
launches:
  - {kernel: put, grid: "ceildiv(V * D, 128)", block: 128, args: "x, index, source, y, V, N, D"}
*/
extern "C" __global__ void put(const float *x, const long long *index, const float *source, float *y, int V, int N, int D) {
   const int i = blockIdx.x * blockDim.x + threadIdx.x;
   if (i >= V * D)
      return;
   float value = x[i];
   for (int n = 0; n < N; n++)
      if (index[n * D + i % D] == i / D)
         value = source[n * D + i % D];
   y[i] = value;
}
