// why: a distance that is moved to a register is a constant only where nothing can go round the move
// buffer: x in f32 32 noise
// buffer: y out f32 32
// launch: shift grid=1 block=32 args=x,y
// expect: pass
// broken: reject memory.uninitialised
extern "C" __global__ void shift(const float *x, float *y) {
   float v = x[threadIdx.x], moved;
#ifdef BROKEN
   asm("{\n"
       " .reg .pred low;\n"
       " .reg .b32 distance;\n"
       " setp.lt.u32 low, %2, 16;\n"
       " @low bra OVER;\n"
       " mov.b32 distance, 8;\n"
       "OVER:\n"
       " shfl.sync.bfly.b32 %0, %1, distance, 31, 0xffffffff;\n"
       "}"
       : "=f"(moved)
       : "f"(v), "r"(threadIdx.x));
#else
   asm("{\n"
       " .reg .pred low;\n"
       " .reg .b32 distance;\n"
       " setp.lt.u32 low, %2, 16;\n"
       " mov.b32 distance, 8;\n"
       " @low bra OVER;\n"
       " mov.b32 %0, 0;\n"
       "OVER:\n"
       " shfl.sync.bfly.b32 %0, %1, distance, 31, 0xffffffff;\n"
       "}"
       : "=f"(moved)
       : "f"(v), "r"(threadIdx.x));
#endif
   y[threadIdx.x] = moved;
}
