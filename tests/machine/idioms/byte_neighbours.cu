// why: bytes side by side, in global memory too, are not shared
// buffer: y out u8 256
// launch: fill grid=2 block=128 args=y
// expect: pass
// broken: reject race.global
extern "C" __global__ void fill(unsigned char *y) {
#ifdef BROKEN
   int i = blockIdx.x * 127 + threadIdx.x;
   y[i] = (unsigned char)(i + blockIdx.x);
   if (i == 254)
      y[255] = 0;
#else
   int i = blockIdx.x * 128 + threadIdx.x;
   y[i] = (unsigned char)i;
#endif
}
