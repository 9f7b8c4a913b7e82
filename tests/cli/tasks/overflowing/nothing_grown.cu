/* rkb-kernel: 1
task: overflowing
direction: forward
launches:
  - {kernel: doubles, grid: "ceildiv(N, 64)", block: 64, args: "x, grown, doubled, N"}
*/
extern "C" __global__ void doubles(const float *x, float *grown, float *doubled, int N) {
   const int i = blockIdx.x * 64 + threadIdx.x;
   if (i < N) {
      grown[i] = 0.0f * x[i];
      doubled[i] = x[i] + x[i];
   }
}
