/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
template <int v> struct A {};
template <class T> struct B {};
__global__ void k(const float *x, const float *weight, float *y, int n) {
   int shifted = n << 1;
   B<B<A<(1 << 2)>>> nested;
   bool less = n < shifted; // k<<<1, 2>>>()
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
