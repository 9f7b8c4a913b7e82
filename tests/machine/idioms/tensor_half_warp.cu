// why: all lanes of a warp execute a matrix instruction together; a branch that half of them take leaves it undefined
// buffer: x in f32 32 noise
// buffer: y out f32 32
// launch: half_warp grid=1 block=32 args=x,y
// expect: pass
// broken: reject sync.warp
extern "C" __global__ void half_warp(const float *x, float *y) {
   const int t = threadIdx.x;
   unsigned a = __float_as_uint(x[t]);
   float d[4] = {x[t], 0, 0, 0};
#ifdef BROKEN
   if (t < 16)
#endif
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a));
   y[t] = d[0] + d[1] + d[2] + d[3];
}
