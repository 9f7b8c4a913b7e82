// buffer: a in f32 65536 noise
// buffer: b in f32 65536 noise
// buffer: c out f32 65536
// launch: matmul grid=16,16 block=16,16 args=a,b,c,256,256,256
// expect: pass
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int rows, int columns, int inner) {
   __shared__ float sa[16][16], sb[16][16];
   int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
   float sum = 0;
   for (int tile = 0; tile < (inner + 15) / 16; tile++) {
      int ka = tile * 16 + threadIdx.x, kb = tile * 16 + threadIdx.y;
      sa[threadIdx.y][threadIdx.x] = row < rows && ka < inner ? a[row * inner + ka] : 0.0f;
      sb[threadIdx.y][threadIdx.x] = kb < inner && column < columns ? b[kb * columns + column] : 0.0f;
      __syncthreads();
#pragma unroll
      for (int k = 0; k < 16; k++)
         sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
      __syncthreads();
   }
   if (row < rows && column < columns)
      c[row * columns + column] = sum;
}
