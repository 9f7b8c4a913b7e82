/* rkb-kernel: 1
task: mnist_cross_entropy
direction: forward
scratch:
  sum: {dtype: float32, shape: "1", init: zero}
  arrived: {dtype: int32, shape: "1", init: zero}
launches:
  - kernel: mean_loss
    grid: N
    block: 32
    args: predictions, targets, sum, arrived, loss, N, C
*/
// task: mnist_cross_entropy
// why: blocks add to one sum: all of them are executed where they are few, and then it is judged
// standing: accept
// says: "facet":"sampled"
// says: "executed":64
__global__ void mean_loss(const float *predictions, const long long *targets, float *sum, int *arrived, float *loss, long long N,
                          long long C) {
   const float *row = predictions + blockIdx.x * C;
   float largest = -3.402823466e38f, total = 0.0f;
   if (threadIdx.x != 0)
      return;
   for (int i = 0; i < C; i++)
      largest = fmaxf(largest, row[i]);
   for (int i = 0; i < C; i++)
      total += expf(row[i] - largest);
   atomicAdd(sum, logf(total) - (row[targets[blockIdx.x]] - largest));
   __threadfence();
   if (atomicAdd(arrived, 1) == N - 1) {
      __threadfence();
      *loss = atomicAdd(sum, 0.0f) / N;
   }
}
