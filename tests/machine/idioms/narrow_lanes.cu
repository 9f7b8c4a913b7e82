// why: numbers of one and two bytes that a warp moves at once keep their signs, and two lanes at one of them are a race
// buffer: x in i32 256
// buffer: y out i32 256
// launch: narrow grid=2 block=128 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void narrow(const int *x, int *y) {
   __shared__ short halves[128];
   __shared__ signed char bytes[128];
   __shared__ __align__(4) unsigned char sums[256];
   const int t = threadIdx.x, n = blockIdx.x * 128 + t, other = 127 - t;
#ifdef BROKEN
   halves[t == 41 ? 40 : t] = (short)(x[n] % 1000 - 2 * t); /* both of one warp */
#else
   halves[t] = (short)(x[n] % 1000 - 2 * t);
#endif
   bytes[t] = (signed char)(t - 128);
   *(ushort1 *)(sums + 2 * t) = make_ushort1((unsigned short)(3 * t));
   __syncthreads();
   const uchar2 both = *(const uchar2 *)(sums + 2 * other);
   if (bytes[other] != other - 128 || both.x + 256 * both.y != 3 * other)
      __trap();
   if (t < 64)
      halves[t] += halves[other];
   __syncthreads();
   const int second = (int)(*(const unsigned *)(sums + 4 * (t / 2)) >> 16);
   if (second != 3 * (t | 1))
      __trap();
   y[n] = halves[t] + second;
}
