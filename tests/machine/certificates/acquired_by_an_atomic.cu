/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  squares: {dtype: float32, shape: "B * T"}
  arrived: {dtype: int32, shape: "1", init: zero}
  nothing: {dtype: float32, shape: "1", init: zero}
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, squares, arrived, nothing, eps, D
*/
// why: the last block reads what others wrote with no fence after its ticket, and a word that many read is written behind it:
// why: right as devices are, and no more than that may be claimed
// standing: accept
// says: an atomic operation's result is taken to acquire what was released before it
// says: reads by several blocks before a write across grid-wide synchronisation were not told apart
// says: "orders":["ascending","descending","shuffled"]
// never: "schedules":"one"
// never: "schedules":"all"
__global__ void rmsnorm(const float *x, const float *weight, float *y, float *squares, int *arrived, float *nothing, float eps, int D) {
   const int lane = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float sum = 0.0f;
   for (int i = lane; i < D; i += 32)
      sum += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   __shared__ bool last;
   if (lane == 0) {
      squares[blockIdx.x] = sum + nothing[0];
      __threadfence();
      last = atomicAdd(arrived, 1) == gridDim.x - 1;
   }
   __syncthreads();
   if (!last)
      return;
   if (lane == 0)
      nothing[0] = 0.0f;
   for (int r = 0; r < gridDim.x; r++)
      for (int i = lane; i < D; i += 32)
         y[(long long)r * D + i] = x[(long long)r * D + i] * rsqrtf(squares[r] / D + eps) * weight[i];
}
