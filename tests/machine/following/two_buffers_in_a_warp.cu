// buffer: q in f32 144 noise
// buffer: k in f32 48 noise
// buffer: turned_q out f32 144
// buffer: turned_k out f32 48
// launch: rotate grid=2,1,1 block=96,1,1 args=q,k,turned_q,turned_k
// expect: pass
// follows: first
// environment: 9
// why: a warp accesses q and k, which lie close together; a record names one buffer, so the launch is executed on each set
extern "C" __global__ void rotate(const float *q, const float *k, float *turned_q, float *turned_k) {
   const int i = blockIdx.x * 96 + threadIdx.x;
   const bool is_query = i < 144;
   const float *in = is_query ? q : k;
   float *out = is_query ? turned_q : turned_k;
   const int at = is_query ? i : i - 144;
   out[at] = -in[at];
}
