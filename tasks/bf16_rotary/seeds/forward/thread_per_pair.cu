/* rkb-kernel: 1
task: bf16_rotary
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
launches:
  - kernel: rotate<BLOCK>
    grid: T, ceildiv(H * R, BLOCK)
    block: BLOCK
    args: x, positions, cosine, sine, y, H, R
*/

/* One thread rotates one pair.  Numbers are fp32 from where they are read to where they are stored. */

#include <cuda_bf16.h>

template <int block>
__global__ void rotate(const __nv_bfloat16 *from, const long long *positions, const float *cosine, const float *sine,
                       __nv_bfloat16 *to, int H, int R) {
   const int i = blockIdx.y * block + threadIdx.x;
   if (i >= H * R)
      return;
   const long long entry = positions[blockIdx.x] * R + i % R;
   const long long at = ((long long)blockIdx.x * H + i / R) * 2 * R + i % R;
   const float c = cosine[entry], s = sine[entry];
   const float low = __bfloat162float(from[at]), high = __bfloat162float(from[at + R]);
   to[at] = __float2bfloat16(low * c - high * s);
   to[at + R] = __float2bfloat16(high * c + low * s);
}
