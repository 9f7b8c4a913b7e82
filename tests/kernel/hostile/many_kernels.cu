// expect: tool.|build.error: 
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#define CAT(a, b) a##b
#define K1(n) __global__ void CAT(f, n)(float *x) { x[n] = n; }
#define K10(n) K1(n##0) K1(n##1) K1(n##2) K1(n##3) K1(n##4) K1(n##5) K1(n##6) K1(n##7) K1(n##8) K1(n##9)
#define K100(n) K10(n##0) K10(n##1) K10(n##2) K10(n##3) K10(n##4) K10(n##5) K10(n##6) K10(n##7) K10(n##8) K10(n##9)
#define K1000(n) K100(n##0) K100(n##1) K100(n##2) K100(n##3) K100(n##4) K100(n##5) K100(n##6) K100(n##7) K100(n##8) K100(n##9)
#define K10000(n) K1000(n##0) K1000(n##1) K1000(n##2) K1000(n##3) K1000(n##4) K1000(n##5) K1000(n##6) K1000(n##7) K1000(n##8) K1000(n##9)
K10000(1) K10000(2) K10000(3) K10000(4) K10000(5) K10000(6) K10000(7) K10000(8) K10000(9) K10000(10)
__global__ void k(float *x) { x[threadIdx.x] = 1; }
