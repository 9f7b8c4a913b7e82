/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 1
    args: x, weight, y, eps, D
*/
// why: an instruction of one lane takes as long as one of many: the budget counts the lanes that stand idle
// standing: unknown
// set: screen.machine.with.budget=3000000
// set: screen.machine.with.shapes=0
// says: 3000000 thread-instructions
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = 0; i < D; i++)
      squares += row[i] * row[i];
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = 0; i < D; i++)
      y[(long long)blockIdx.x * D + i] = row[i] * inverse * weight[i];
}
