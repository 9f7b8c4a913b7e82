// why: numbers of one and two bytes that a warp loads at once from an input are the right parts of its words, and one past the end is found
// buffer: x in u8 512
// buffer: y out i32 256
// launch: parts grid=2 block=128 args=x,y
// expect: pass
// broken: reject memory.out_of_bounds
extern "C" __global__ void parts(const unsigned char *x, int *y) {
   const unsigned short *halves = (const unsigned short *)x;
   const unsigned *words = (const unsigned *)x;
   const int n = blockIdx.x * 128 + threadIdx.x, other = 255 - n;
#ifdef BROKEN
   const unsigned half = halves[n == 255 ? 256 : n]; /* the last lane of the last warp */
#else
   const unsigned half = halves[n];
#endif
   const unsigned turned = halves[other];
   const uchar2 pair = *(const uchar2 *)(x + 2 * (n / 2));
   if (half != (words[n / 2] >> 16 * (n % 2) & 0xffff) || turned != (words[other / 2] >> 16 * (other % 2) & 0xffff))
      __trap();
   if (pair.x != x[n / 2 * 2] || pair.y != (halves[n / 2] >> 8))
      __trap();
   int sum = (int)(half + turned);
   if (n % 3 == 0) /* some lanes alone */
      sum += x[511 - n];
   y[n] = sum;
}
