/* rkb-kernel: 1
task: mnist_pool
direction: backward
launches:
  - kernel: hand_back
    grid: "ceildiv(W, 2), ceildiv(H, 2), min(ceildiv(N * C, 32), 65535)"
    block: 32
    args: grad_y, x, grad_x, H, W, N * C
*/

/* A block owns a window of each plane; a lane owns a plane. */
__global__ void hand_back(const float *grad_y, const float *x, float *grad_x, int H, int W, int planes) {
   const int top = blockIdx.y * 2, left = blockIdx.x * 2;
   const bool whole = top + 1 < H && left + 1 < W;
   for (int plane = blockIdx.z * 32 + threadIdx.x; plane < planes; plane += gridDim.z * 32) {
      const long long corner = ((long long)plane * H + top) * W + left;
      int chosen = 0;
      float most = x[corner];
      for (int k = 1; k < 4 && whole; k++) {
         const float here = x[corner + (k >> 1) * W + (k & 1)];
         if (here > most || here != here) {
            most = here;
            chosen = k;
         }
      }
      const float grad = whole ? grad_y[((long long)plane * (H / 2) + blockIdx.y) * (W / 2) + blockIdx.x] : 0.0f;
      for (int k = 0; k < 4; k++)
         if (top + (k >> 1) < H && left + (k & 1) < W)
            grad_x[corner + (k >> 1) * W + (k & 1)] = k == chosen ? grad : 0.0f;
   }
}
