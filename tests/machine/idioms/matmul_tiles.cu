// why: padded tiles of a matrix product: the second barrier keeps the next tile from overwriting this one
// buffer: a in f32 1225 noise
// buffer: b in f32 1225 noise
// buffer: c out f32 1225
// launch: matmul grid=3,3 block=16,16 args=a,b,c,35
// expect: pass
// broken: reject race.shared
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
   __shared__ float sa[16][17], sb[16][17];
   int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
   float sum = 0;
   for (int tile = 0; tile < (n + 15) / 16; tile++) {
      int k = tile * 16;
      sa[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0.0f;
      sb[threadIdx.y][threadIdx.x] = column < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + column] : 0.0f;
      __syncthreads();
      for (int j = 0; j < 16; j++)
         sum += sa[threadIdx.y][j] * sb[j][threadIdx.x];
#ifndef BROKEN
      __syncthreads();
#endif
   }
   if (row < n && column < n)
      c[row * n + column] = sum;
}
