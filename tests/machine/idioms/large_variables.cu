// why: three arrays of 64 MiB of which little is touched are zeros that cost nothing, and are watched as any other memory
// buffer: x in f32 256 noise
// buffer: y out f32 256
// launch: keep grid=2 block=128 args=x
// launch: give grid=2 block=128 args=y
// runs: 2
// expect: pass
// broken: reject race.global
__device__ float first[16777216], second[16777216], third[16777216];
#ifdef BROKEN
/* two blocks meet at each place */
#define PLACE(i) (((i) % 128) * 65535)
#else
#define PLACE(i) ((i) * 65535)
#endif
extern "C" __global__ void keep(const float *x) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   first[PLACE(i)] = x[i];
   second[16777215 - PLACE(i)] = 2 * x[i];
   third[i] = 3 * x[i];
}
extern "C" __global__ void give(float *y) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   y[i] = first[PLACE(i)] + second[16777215 - PLACE(i)] + third[i] + first[PLACE(i) + 1];
}
