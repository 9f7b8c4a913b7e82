/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 128, args: "x, weight, y, n"}
*/
__device__ void load(unsigned to, const float *from, unsigned bar) {
   asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(to), "l"(from), "r"(bar));
}
__device__ void store(float *to, unsigned from) {
   asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(to), "r"(from));
}
__global__ void k(const float *x, const float *weight, float *y, int n) {
   __shared__ float room[32];
   __shared__ unsigned long long bar;
   const unsigned at = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(room);
   asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
   asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at));
   load(to, x + n, at);
   asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(at));
   store(y + (int)weight[0], to);
   asm volatile("cp.async.bulk.commit_group;");
   asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
