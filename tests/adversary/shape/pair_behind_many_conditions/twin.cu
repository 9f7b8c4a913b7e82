/* rkb-kernel: 1
task: softmax
direction: forward
tune:
  WARPS: {default: 4, choices: [1, 2, 4, 8, 16]}
  VEC: {default: 4, choices: [1, 2, 4]}
launches:
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 0) % 1009 + (D * N + 1) % 1010 + (D * N + 2) % 1011 + (D * N + 3) % 1012 + (D * N + 4) % 1013 + (D * N + 5) % 1014 + (D * N + 6) % 1015 + (D * N + 7) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 7) % 1009 + (D * N + 8) % 1010 + (D * N + 9) % 1011 + (D * N + 10) % 1012 + (D * N + 11) % 1013 + (D * N + 12) % 1014 + (D * N + 13) % 1015 + (D * N + 14) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 14) % 1009 + (D * N + 15) % 1010 + (D * N + 16) % 1011 + (D * N + 17) % 1012 + (D * N + 18) % 1013 + (D * N + 19) % 1014 + (D * N + 20) % 1015 + (D * N + 21) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 21) % 1009 + (D * N + 22) % 1010 + (D * N + 23) % 1011 + (D * N + 24) % 1012 + (D * N + 25) % 1013 + (D * N + 26) % 1014 + (D * N + 27) % 1015 + (D * N + 28) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 28) % 1009 + (D * N + 29) % 1010 + (D * N + 30) % 1011 + (D * N + 31) % 1012 + (D * N + 32) % 1013 + (D * N + 33) % 1014 + (D * N + 34) % 1015 + (D * N + 35) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 35) % 1009 + (D * N + 36) % 1010 + (D * N + 37) % 1011 + (D * N + 38) % 1012 + (D * N + 39) % 1013 + (D * N + 40) % 1014 + (D * N + 41) % 1015 + (D * N + 42) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 42) % 1009 + (D * N + 43) % 1010 + (D * N + 44) % 1011 + (D * N + 45) % 1012 + (D * N + 46) % 1013 + (D * N + 47) % 1014 + (D * N + 48) % 1015 + (D * N + 49) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 49) % 1009 + (D * N + 50) % 1010 + (D * N + 51) % 1011 + (D * N + 52) % 1012 + (D * N + 53) % 1013 + (D * N + 54) % 1014 + (D * N + 55) % 1015 + (D * N + 56) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 56) % 1009 + (D * N + 57) % 1010 + (D * N + 58) % 1011 + (D * N + 59) % 1012 + (D * N + 60) % 1013 + (D * N + 61) % 1014 + (D * N + 62) % 1015 + (D * N + 63) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 63) % 1009 + (D * N + 64) % 1010 + (D * N + 65) % 1011 + (D * N + 66) % 1012 + (D * N + 67) % 1013 + (D * N + 68) % 1014 + (D * N + 69) % 1015 + (D * N + 70) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 70) % 1009 + (D * N + 71) % 1010 + (D * N + 72) % 1011 + (D * N + 73) % 1012 + (D * N + 74) % 1013 + (D * N + 75) % 1014 + (D * N + 76) % 1015 + (D * N + 77) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 77) % 1009 + (D * N + 78) % 1010 + (D * N + 79) % 1011 + (D * N + 80) % 1012 + (D * N + 81) % 1013 + (D * N + 82) % 1014 + (D * N + 83) % 1015 + (D * N + 84) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 84) % 1009 + (D * N + 85) % 1010 + (D * N + 86) % 1011 + (D * N + 87) % 1012 + (D * N + 88) % 1013 + (D * N + 89) % 1014 + (D * N + 90) % 1015 + (D * N + 91) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 91) % 1009 + (D * N + 92) % 1010 + (D * N + 93) % 1011 + (D * N + 94) % 1012 + (D * N + 95) % 1013 + (D * N + 96) % 1014 + (D * N + 97) % 1015 + (D * N + 98) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 98) % 1009 + (D * N + 99) % 1010 + (D * N + 100) % 1011 + (D * N + 101) % 1012 + (D * N + 102) % 1013 + (D * N + 103) % 1014 + (D * N + 104) % 1015 + (D * N + 105) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 105) % 1009 + (D * N + 106) % 1010 + (D * N + 107) % 1011 + (D * N + 108) % 1012 + (D * N + 109) % 1013 + (D * N + 110) % 1014 + (D * N + 111) % 1015 + (D * N + 112) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 112) % 1009 + (D * N + 113) % 1010 + (D * N + 114) % 1011 + (D * N + 115) % 1012 + (D * N + 116) % 1013 + (D * N + 117) % 1014 + (D * N + 118) % 1015 + (D * N + 119) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 119) % 1009 + (D * N + 120) % 1010 + (D * N + 121) % 1011 + (D * N + 122) % 1012 + (D * N + 123) % 1013 + (D * N + 124) % 1014 + (D * N + 125) % 1015 + (D * N + 126) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 126) % 1009 + (D * N + 127) % 1010 + (D * N + 128) % 1011 + (D * N + 129) % 1012 + (D * N + 130) % 1013 + (D * N + 131) % 1014 + (D * N + 132) % 1015 + (D * N + 133) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 133) % 1009 + (D * N + 134) % 1010 + (D * N + 135) % 1011 + (D * N + 136) % 1012 + (D * N + 137) % 1013 + (D * N + 138) % 1014 + (D * N + 139) % 1015 + (D * N + 140) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 140) % 1009 + (D * N + 141) % 1010 + (D * N + 142) % 1011 + (D * N + 143) % 1012 + (D * N + 144) % 1013 + (D * N + 145) % 1014 + (D * N + 146) % 1015 + (D * N + 147) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 147) % 1009 + (D * N + 148) % 1010 + (D * N + 149) % 1011 + (D * N + 150) % 1012 + (D * N + 151) % 1013 + (D * N + 152) % 1014 + (D * N + 153) % 1015 + (D * N + 154) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 154) % 1009 + (D * N + 155) % 1010 + (D * N + 156) % 1011 + (D * N + 157) % 1012 + (D * N + 158) % 1013 + (D * N + 159) % 1014 + (D * N + 160) % 1015 + (D * N + 161) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 161) % 1009 + (D * N + 162) % 1010 + (D * N + 163) % 1011 + (D * N + 164) % 1012 + (D * N + 165) % 1013 + (D * N + 166) % 1014 + (D * N + 167) % 1015 + (D * N + 168) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 168) % 1009 + (D * N + 169) % 1010 + (D * N + 170) % 1011 + (D * N + 171) % 1012 + (D * N + 172) % 1013 + (D * N + 173) % 1014 + (D * N + 174) % 1015 + (D * N + 175) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 175) % 1009 + (D * N + 176) % 1010 + (D * N + 177) % 1011 + (D * N + 178) % 1012 + (D * N + 179) % 1013 + (D * N + 180) % 1014 + (D * N + 181) % 1015 + (D * N + 182) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 182) % 1009 + (D * N + 183) % 1010 + (D * N + 184) % 1011 + (D * N + 185) % 1012 + (D * N + 186) % 1013 + (D * N + 187) % 1014 + (D * N + 188) % 1015 + (D * N + 189) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 189) % 1009 + (D * N + 190) % 1010 + (D * N + 191) % 1011 + (D * N + 192) % 1012 + (D * N + 193) % 1013 + (D * N + 194) % 1014 + (D * N + 195) % 1015 + (D * N + 196) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 196) % 1009 + (D * N + 197) % 1010 + (D * N + 198) % 1011 + (D * N + 199) % 1012 + (D * N + 200) % 1013 + (D * N + 201) % 1014 + (D * N + 202) % 1015 + (D * N + 203) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 203) % 1009 + (D * N + 204) % 1010 + (D * N + 205) % 1011 + (D * N + 206) % 1012 + (D * N + 207) % 1013 + (D * N + 208) % 1014 + (D * N + 209) % 1015 + (D * N + 210) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 210) % 1009 + (D * N + 211) % 1010 + (D * N + 212) % 1011 + (D * N + 213) % 1012 + (D * N + 214) % 1013 + (D * N + 215) % 1014 + (D * N + 216) % 1015 + (D * N + 217) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 217) % 1009 + (D * N + 218) % 1010 + (D * N + 219) % 1011 + (D * N + 220) % 1012 + (D * N + 221) % 1013 + (D * N + 222) % 1014 + (D * N + 223) % 1015 + (D * N + 224) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 224) % 1009 + (D * N + 225) % 1010 + (D * N + 226) % 1011 + (D * N + 227) % 1012 + (D * N + 228) % 1013 + (D * N + 229) % 1014 + (D * N + 230) % 1015 + (D * N + 231) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 231) % 1009 + (D * N + 232) % 1010 + (D * N + 233) % 1011 + (D * N + 234) % 1012 + (D * N + 235) % 1013 + (D * N + 236) % 1014 + (D * N + 237) % 1015 + (D * N + 238) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 238) % 1009 + (D * N + 239) % 1010 + (D * N + 240) % 1011 + (D * N + 241) % 1012 + (D * N + 242) % 1013 + (D * N + 243) % 1014 + (D * N + 244) % 1015 + (D * N + 245) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: (D * N + 245) % 1009 + (D * N + 246) % 1010 + (D * N + 247) % 1011 + (D * N + 248) % 1012 + (D * N + 249) % 1013 + (D * N + 250) % 1014 + (D * N + 251) % 1015 + (D * N + 252) % 1016 == -1
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - kernel: softmax<WARPS, VEC>
    when: D % VEC == 0
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
  - else:
    kernel: softmax<WARPS, 1>
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: x, y, N, D
*/

/* One warp owns one row and reads it twice: each lane keeps the largest value so far and the sum of exponentials below it,
 * rescaling the sum when the largest value grows (Milakov, Gimelshein: 'Online normalizer calculation for softmax', 2018);
 * lanes are merged by shuffles, so there is no barrier. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

/* Merges (largest, sum) of two parts of a row. */
__device__ void merge(float &largest, float &sum, float other_largest, float other_sum) {
   const float both = fmaxf(largest, other_largest);
   sum = sum * expf(largest - both) + other_sum * expf(other_largest - both);
   largest = both;
}

template <int warps, int vec> __global__ void softmax(const float *x, float *y, int N, int D) {
   const int lane = threadIdx.x % 32;
   const long long index = (long long)blockIdx.x * warps + threadIdx.x / 32;
   if (index >= N)
      return; /* the same for a whole warp */
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + index * D);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + index * D);
   const int packs = D / vec;

   float largest = -3.402823466e38f, sum = 0.0f;
   for (int i = lane; i < packs; i += 32) {
      const Pack<vec> value = row[i];
      float peak = value.at[0];
      for (int k = 1; k < vec; k++)
         peak = fmaxf(peak, value.at[k]);
      float part = 0.0f;
      for (int k = 0; k < vec; k++)
         part += expf(value.at[k] - peak);
      merge(largest, sum, peak, part);
   }
   for (int distance = 16; distance > 0; distance /= 2) {
      const float other_largest = __shfl_xor_sync(0xffffffffu, largest, distance);
      const float other_sum = __shfl_xor_sync(0xffffffffu, sum, distance);
      merge(largest, sum, other_largest, other_sum);
   }
   const float inverse = 1.0f / sum;

   for (int i = lane; i < packs; i += 32) {
      const Pack<vec> value = row[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = expf(value.at[k] - largest) * inverse;
      out[i] = result;
   }
}
