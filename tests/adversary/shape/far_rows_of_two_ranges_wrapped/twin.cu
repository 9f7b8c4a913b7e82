/* rkb-kernel: 1
task: rotary_embedding
direction: forward
let:
  pairs_q: B * H * T * R
  pairs_k: B * K * T * R
  blocks_q: ceildiv(pairs_q, 256)
  blocks_k: ceildiv(pairs_k, 128)
launches:
  - kernel: rotate
    grid: 2 * blocks_q + blocks_k
    block: 128
    args: q, k, cosine, sine, rotated_q, rotated_k, blocks_q, blocks_k, pairs_q, pairs_k, T, R
*/
/* The first blocks rotate the first half of the queries, others the keys, and the last blocks the rest of the queries. */
__global__ void rotate(const float *q, const float *k, const float *cosine, const float *sine, float *rotated_q, float *rotated_k,
                       long long blocks_q, long long blocks_k, long long pairs_q, long long pairs_k, int T, int R) {
   const bool is_key = blockIdx.x >= blocks_q && blockIdx.x < blocks_q + blocks_k;
   const float *in = is_key ? k : q;
   float *out = is_key ? rotated_k : rotated_q;
   const long long place = is_key ? blockIdx.x - blocks_q : blockIdx.x < blocks_q ? blockIdx.x : blockIdx.x - blocks_k;
   long long pair = place * 128 + threadIdx.x;
   if (is_key ? pair >= pairs_k : pair >= pairs_q)
      return;
   const long long vector = pair / R;
   const int offset = pair % R;
   const long long low = vector * 2 * R + offset, angle = vector % T * R + offset;
   out[low] = in[low] * cosine[angle] - in[low + R] * sine[angle];
   out[low + R] = in[low + R] * cosine[angle] + in[low] * sine[angle];
}
