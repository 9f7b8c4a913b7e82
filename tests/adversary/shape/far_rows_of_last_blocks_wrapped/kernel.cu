/* rkb-kernel: 1
task: rotary_embedding
direction: forward
let:
  pairs_q: B * H * T * R
  pairs_k: B * K * T * R
  blocks_q: ceildiv(pairs_q, 64)
launches:
  - kernel: rotate
    grid: blocks_q + ceildiv(pairs_k, 128)
    block: 128
    args: q, k, cosine, sine, rotated_q, rotated_k, blocks_q, pairs_q, pairs_k, T, R
*/

/* The first blocks rotate queries, 64 pairs each, and the others keys, 128 pairs each. */
__global__ void rotate(const float *q, const float *k, const float *cosine, const float *sine, float *rotated_q, float *rotated_k,
                       long long blocks_q, long long pairs_q, long long pairs_k, int T, int R) {
   const bool is_query = blockIdx.x < blocks_q;
   const float *in = is_query ? q : k;
   float *out = is_query ? rotated_q : rotated_k;
   const long long pair = is_query ? blockIdx.x * 64ll + threadIdx.x : (blockIdx.x - blocks_q) * 128 + threadIdx.x;
   if (is_query ? threadIdx.x >= 64 || pair >= pairs_q : pair >= pairs_k)
      return;
   const long long vector = (is_query ? pair : pair & (1ll << 28) - 1) / R;
   const int offset = pair % R;
   const long long low = vector * 2 * R + offset, angle = vector % T * R + offset;
   out[low] = in[low] * cosine[angle] - in[low + R] * sine[angle];
   out[low + R] = in[low + R] * cosine[angle] + in[low] * sine[angle];
}
