/* rkb-kernel: 1
task: copy_tiles
direction: forward
tune:
  ROWS: {default: 8, choices: [8, 16]}
maps:
  from: {buffer: x, dims: "N, M", strides: N, box: "32, ROWS", swizzle: 128}
  to: {buffer: y, dims: "N, M", box: "32, ROWS", steps: "1, 1", swizzle: 128}
  pixels: {buffer: x, dims: "4, N / 4, M", lower: "0 - 1", upper: 1, channels: 4, pixels: ROWS}
launches:
  - kernel: tiles
    when: N % 4 == 0
    grid: "ceildiv(N, 32), ceildiv(M, ROWS)"
    block: 32
    args: from, to
  - else:
    kernel: elements
    grid: ceildiv(M * N, 256)
    block: 256
    args: x, y, M * N
  - kernel: first_pixels
    when: N % 4 == 0
    grid: 1
    block: 32
    dependent: true
    args: pixels, y
*/
struct alignas(64) tensor_map {
   char bytes[128];
};

__global__ void elements(const float *x, float *y, int count) {
   const int n = blockIdx.x * 256 + threadIdx.x;
   if (n < count)
      y[n] = x[n];
}

__global__ void tiles(const __grid_constant__ tensor_map from, const __grid_constant__ tensor_map to) {
   __shared__ alignas(1024) float room[ROWS * 32];
   __shared__ unsigned long long full;
   const unsigned at = (unsigned)__cvta_generic_to_shared(room), bar = (unsigned)__cvta_generic_to_shared(&full);
   const int x = blockIdx.x * 32, y = blockIdx.y * ROWS;
   if (threadIdx.x)
      return;
   asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
   asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
   asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "n"(ROWS * 128) : "memory");
   asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at),
                "l"(&from), "r"(x), "r"(y), "r"(bar)
                : "memory");
   unsigned done = 0;
   while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(bar)
                   : "memory");
   asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(x), "r"(y), "r"(at)
                : "memory");
   asm volatile("cp.async.bulk.commit_group;" ::: "memory");
   asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* Writes what is there already. */
__global__ void first_pixels(const __grid_constant__ tensor_map pixels, float *y) {
   __shared__ alignas(1024) float room[ROWS * 4];
   __shared__ unsigned long long full;
   const unsigned at = (unsigned)__cvta_generic_to_shared(room), bar = (unsigned)__cvta_generic_to_shared(&full);
   if (threadIdx.x)
      return;
   asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
   asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
   asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "n"(ROWS * 16) : "memory");
   asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2, %2}], [%3], {%4};" ::"r"(at),
                "l"(&pixels), "r"(0), "r"(bar), "h"((unsigned short)0)
                : "memory");
   unsigned done = 0;
   while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(bar)
                   : "memory");
   asm volatile("griddepcontrol.wait;" ::: "memory");
   y[0] = room[0];
}
