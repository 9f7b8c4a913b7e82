// why: what a launch wrote is read through the read-only path by the next launch; in the same launch the path may return what was there before
// buffer: x in f32 64 noise
// buffer: rows scratch f32 64
// buffer: y out f32 64
// launch: writes grid=2 block=32 args=x,rows,y
// launch: reads grid=2 block=32 args=rows,y
// expect: pass
// broken: reject race.global
extern "C" __global__ void writes(const float *x, float *rows, float *y) {
   int n = blockIdx.x * 32 + threadIdx.x;
   rows[n] = x[n];
#ifdef BROKEN
   __syncthreads();
   y[n] = __ldg(rows + n);
#endif
}

extern "C" __global__ void reads(const float *__restrict__ rows, float *__restrict__ y) {
   int n = blockIdx.x * 32 + threadIdx.x;
   y[n] = rows[n ^ 32];
}
