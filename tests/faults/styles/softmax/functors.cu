/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: of_classes
    grid: N
    block: 32
    args: x, y, D
*/
/* Classes with operators, lambdas, and a reduction that takes one. */
class Row {
   const float *begin;
   int length;

 public:
   __device__ Row(const float *all, long long number, int length) : begin(all + number * length), length(length) {}
   __device__ float operator[](int i) const { return begin[i]; }
   template <typename Visit> __device__ void each(Visit &&visit) const {
      for (int i = threadIdx.x; i < length; i += warpSize)
         visit(i, (*this)[i]);
   }
};

template <typename Join> __device__ float joined(float mine, Join join) {
#pragma unroll
   for (int d = 16; d > 0; d >>= 1)
      mine = join(mine, __shfl_xor_sync(0xffffffffu, mine, d));
   return mine;
}

__global__ void of_classes(const float *x, float *y, int D) {
   const Row row(x, blockIdx.x, D);
   float *out = y + (long long)blockIdx.x * D, top = -__int_as_float(0x7f800000), sum = 0;
   row.each([&](int, float v) { top = fmaxf(top, v); });
   top = joined(top, [](float a, float b) { return a > b ? a : b; });
   row.each([&](int, float v) { sum += expf(v - top); });
   sum = joined(sum, [](float a, float b) { return a + b; });
   row.each([=](int i, float v) { out[i] = expf(v - top) / sum; });
}
