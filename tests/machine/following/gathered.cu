// buffer: index in i32 64 index
// buffer: x in f32 64 noise
// buffer: between scratch f32 64
// buffer: y out f32 64
// launch: gather grid=1,1,1 block=64,1,1 args=index,x,between
// launch: add grid=1,1,1 block=64,1,1 args=between,x,y
// expect: pass
// follows: yes
// why: an input that is an address is another place in every run: all sets execute that, and follow in what comes after
extern "C" __global__ void gather(const int *index, const float *x, float *between) {
   between[threadIdx.x] = x[index[threadIdx.x] & 63];
}

extern "C" __global__ void add(const float *between, const float *x, float *y) {
   y[threadIdx.x] = between[63 - threadIdx.x] + x[threadIdx.x];
}
