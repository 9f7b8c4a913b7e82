// buffer: x in f32 524288 noise
// buffer: weight in f32 1024 noise
// buffer: bias in f32 1024 noise
// buffer: y out f32 524288
// launch: layernorm grid=512 block=256 args=x,weight,bias,y,1024,0.00001
// expect: pass
extern "C" __global__ void layernorm(const float *x, const float *weight, const float *bias, float *y, int n, float eps) {
   __shared__ float sums[32], squares[32];
   const float *row = x + (long long)blockIdx.x * n;
   float *out = y + (long long)blockIdx.x * n;
   float sum = 0, square = 0;
   for (int i = threadIdx.x; i < n; i += blockDim.x) {
      float v = row[i];
      sum += v;
      square += v * v;
   }
   for (int d = 16; d > 0; d /= 2) {
      sum += __shfl_down_sync(0xffffffffu, sum, d);
      square += __shfl_down_sync(0xffffffffu, square, d);
   }
   int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
   if (lane == 0) {
      sums[warp] = sum;
      squares[warp] = square;
   }
   __syncthreads();
   if (warp == 0) {
      int warps = (blockDim.x + 31) / 32;
      sum = lane < warps ? sums[lane] : 0.0f;
      square = lane < warps ? squares[lane] : 0.0f;
      for (int d = 16; d > 0; d /= 2) {
         sum += __shfl_down_sync(0xffffffffu, sum, d);
         square += __shfl_down_sync(0xffffffffu, square, d);
      }
      if (lane == 0) {
         float mean = sum / n;
         sums[0] = mean;
         squares[0] = rsqrtf(square / n - mean * mean + eps);
      }
   }
   __syncthreads();
   float mean = sums[0], inverse = squares[0];
   for (int i = threadIdx.x; i < n; i += blockDim.x)
      out[i] = (row[i] - mean) * inverse * weight[i] + bias[i];
}
