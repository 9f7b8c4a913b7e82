// why: a sum needs somewhere to begin: accumulators that nothing set to zero leave undefined results
// buffer: x in f32 32 noise
// buffer: y out f32 32
// launch: unset grid=1 block=32 args=x,y
// expect: pass
// broken: reject memory.uninitialised
extern "C" __global__ void unset(const float *x, float *y) {
   const int t = threadIdx.x;
   asm volatile("{ .reg .f32 d<4>; .reg .b32 a;\n"
#ifndef BROKEN
                "mov.f32 d0, 0f00000000; mov.f32 d1, d0; mov.f32 d2, d0; mov.f32 d3, d0;\n"
#endif
                "mov.b32 a, %1;\n"
                "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {d0, d1, d2, d3}, {a, a, a, a}, {a, a}, {d0, d1, d2, d3};\n"
                "st.global.f32 [%0], d0; }" :: "l"(y + t), "f"(x[t]) : "memory");
}
