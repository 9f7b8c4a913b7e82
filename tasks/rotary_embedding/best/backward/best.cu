/* rkb-kernel: 1
task: rotary_embedding
direction: backward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
  VEC: {default: 4, choices: [1, 2, 4]}
let:
  pairs_q: B * H * T * R
  pairs: B * (H + K) * T * R
launches:
  - kernel: rotate<BLOCK, VEC>
    when: R % VEC == 0
    grid: ceildiv(pairs / VEC, BLOCK)
    block: BLOCK
    args: grad_rotated_q, grad_rotated_k, cosine, sine, grad_q, grad_k, pairs_q, pairs, T, R
  - else:
    kernel: rotate<BLOCK, 1>
    grid: ceildiv(pairs, BLOCK)
    block: BLOCK
    args: grad_rotated_q, grad_rotated_k, cosine, sine, grad_q, grad_k, pairs_q, pairs, T, R
*/

/* The gradient of a rotation is the rotation back: (low cos + high sin, high cos - low sin).
 * A thread owns VEC neighbouring pairs; one launch covers queries and then keys, so that short key tensors cost no launch of
 * their own. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

template <int block, int vec>
__global__ void rotate(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ cosine, const float *__restrict__ sine, float *__restrict__ out_q, float *__restrict__ out_k,
                       long long pairs_q, long long pairs, int T, int R) {
   long long pair = ((long long)blockIdx.x * block + threadIdx.x) * vec;
   if (pair >= pairs)
      return;
   const bool is_query = pair < pairs_q;
   const float *in = is_query ? q : k;
   float *out = is_query ? out_q : out_k;
   if (!is_query)
      pair -= pairs_q;
   const long long vector = pair / R;
   const int offset = pair % R, position = vector % T;
   const Pack<vec> lows = *reinterpret_cast<const Pack<vec> *>(in + vector * 2 * R + offset);
   const Pack<vec> highs = *reinterpret_cast<const Pack<vec> *>(in + vector * 2 * R + R + offset);
   const Pack<vec> cosines = *reinterpret_cast<const Pack<vec> *>(cosine + (long long)position * R + offset);
   const Pack<vec> sines = *reinterpret_cast<const Pack<vec> *>(sine + (long long)position * R + offset);
   Pack<vec> new_lows, new_highs;
   for (int i = 0; i < vec; i++) {
      const float low = lows.at[i], high = highs.at[i], c = cosines.at[i], s = sines.at[i];
      new_lows.at[i] = low * c + high * s;
      new_highs.at[i] = high * c - low * s;
   }
   *reinterpret_cast<Pack<vec> *>(out + vector * 2 * R + offset) = new_lows;
   *reinterpret_cast<Pack<vec> *>(out + vector * 2 * R + R + offset) = new_highs;
}
