// why: one array, of which the launch reads some bytes through the read-only path and writes others
// buffer: a inout u8 128 ramp
// launch: parts grid=1 block=64 args=a
// expect: pass
// broken: reject race.global
extern "C" __global__ void parts(unsigned char *a) {
   int t = threadIdx.x;
#ifdef BROKEN
   a[127 - t] = __ldg(a + t + 64);
#else
   a[t] = __ldg(a + t + 64);
#endif
}
