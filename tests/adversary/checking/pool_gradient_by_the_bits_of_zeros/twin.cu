/* rkb-kernel: 1
task: mnist_pool
direction: backward
launches:
  - kernel: pool
    grid: "ceildiv(N * C * H * W, 256)"
    block: 256
    args: x, grad_y, grad_x, N * C, H, W
*/
__device__ unsigned key(float v) {
   const unsigned b = __float_as_uint(v == 0.0f ? 0.0f : v);
   if (v != v) return 0xffffffffu;
   return b & 0x80000000u ? ~b : b | 0x80000000u;
}
__global__ void pool(const float *x, const float *g, float *gx, int planes, int H, int W) {
   const long long i = blockIdx.x * 256ll + threadIdx.x;
   if (i >= (long long)planes * H * W) return;
   const int w = i % W, h = i / W % H;
   const long long p = i / W / H;
   const int oh = h / 2, ow = w / 2;
   float result = 0.0f;
   if (oh < H / 2 && ow < W / 2) {
      long long best = -1; unsigned k = 0; bool nan = false;
      for (int a = 0; a < 2; a++)
         for (int b = 0; b < 2; b++) {
            const long long at = (p * H + oh * 2 + a) * W + ow * 2 + b;
            const float v = x[at];
            if (best < 0 || v != v || (!nan && key(v) > k)) { best = at; k = key(v); nan = nan || v != v; }
         }
      if (best == i) result = g[(p * (H / 2) + oh) * (W / 2) + ow];
   }
   gx[i] = result;
}
