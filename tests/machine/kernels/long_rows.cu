// buffer: x in f32 4194304 noise
// buffer: y out f32 1024
// launch: long_rows grid=1 block=1024 args=x,y,1048576
// expect: pass
extern "C" __global__ void long_rows(const float4 *x, float *y, int n) {
   float sum = 0;
   for (int pass = 0; pass < 2; pass++) {
      for (int i = threadIdx.x; i < n; i += 1024)
         sum += x[i].x + x[i].y + x[i].z + x[i].w;
      __syncthreads();
   }
   y[threadIdx.x] = sum;
}
