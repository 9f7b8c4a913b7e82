// expect: build.error: recursion
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
template <int n> struct Deep { static const long long value = Deep<n + 1>::value + Deep<n + 2>::value; };
__global__ void k(float *x) { x[0] = Deep<0>::value; }
