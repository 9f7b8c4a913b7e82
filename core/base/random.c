/* Random streams over Philox4x32-10 (Salmon, Moraes, Dror, Shaw: 'Parallel random numbers: as easy as 1, 2, 3', SC 2011).
 * Everything is a pure function of (key, stream, position).  The file is compiled without fused multiply-add, so reals are the
 * same on every machine.  Any thread. */
#include "base/random.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ROUNDS 10
#define MULTIPLIER_0 UINT64_C(0xD2511F53)
#define MULTIPLIER_1 UINT64_C(0xCD9E8D57)
#define WEYL_0 0x9E3779B9u
#define WEYL_1 0xBB67AE85u

#define LANES 8u /* blocks computed side by side in a fill, for the vectoriser */

void rkb_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
   uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
   uint32_t k0 = key[0], k1 = key[1];
   for (int round = 0; round < ROUNDS; round++) {
      uint64_t p0 = MULTIPLIER_0 * x0, p1 = MULTIPLIER_1 * x2;
      x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
      x1 = (uint32_t)p1;
      x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
      x3 = (uint32_t)p0;
      k0 += WEYL_0;
      k1 += WEYL_1;
   }
   out[0] = x0;
   out[1] = x1;
   out[2] = x2;
   out[3] = x3;
}

rkb_random_t rkb_random_stream(uint64_t seed, const char *name, int64_t number, uint32_t child) {
   /* Hash the name by itself, so that no name can collide with another stream's number. */
   XXH128_hash_t named = XXH3_128bits(name, strlen(name));
   uint64_t fields[5] = {seed, (uint64_t)number, child, named.low64, named.high64};
   unsigned char bytes[sizeof fields]; /* little-endian on every machine */
   for (unsigned i = 0; i < sizeof bytes; i++)
      bytes[i] = (unsigned char)(fields[i / 8] >> (8 * (i % 8)));
   XXH128_hash_t hash = XXH3_128bits(bytes, sizeof bytes);
   return (rkb_random_t){.key = {(uint32_t)hash.low64, (uint32_t)(hash.low64 >> 32)},
                         .stream = {(uint32_t)hash.high64, (uint32_t)(hash.high64 >> 32)},
                         .position = 0};
}

/* Draws 2 * block and 2 * block + 1. */
static void draw_pair(const rkb_random_t *stream, uint64_t block, uint64_t pair[2]) {
   uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), stream->stream[0], stream->stream[1]};
   uint32_t out[4];
   rkb_philox(counter, stream->key, out);
   pair[0] = out[0] | (uint64_t)out[1] << 32;
   pair[1] = out[2] | (uint64_t)out[3] << 32;
}

uint64_t rkb_random_at(const rkb_random_t *stream, uint64_t position) {
   uint64_t pair[2];
   draw_pair(stream, position / 2, pair);
   return pair[position % 2];
}

/* Computes LANES consecutive blocks with the arithmetic of rkb_philox, one lane per block. */
static inline __attribute__((always_inline)) void draw_lanes(const rkb_random_t *stream, uint64_t block,
                                                             uint64_t out[2 * LANES]) {
   uint32_t x0[LANES], x1[LANES], x2[LANES], x3[LANES];
   uint32_t k0 = stream->key[0], k1 = stream->key[1];
   for (unsigned i = 0; i < LANES; i++) {
      x0[i] = (uint32_t)(block + i);
      x1[i] = (uint32_t)((block + i) >> 32);
      x2[i] = stream->stream[0];
      x3[i] = stream->stream[1];
   }
   for (int round = 0; round < ROUNDS; round++) {
      for (unsigned i = 0; i < LANES; i++) {
         uint64_t p0 = MULTIPLIER_0 * x0[i], p1 = MULTIPLIER_1 * x2[i];
         x0[i] = (uint32_t)(p1 >> 32) ^ x1[i] ^ k0;
         x1[i] = (uint32_t)p1;
         x2[i] = (uint32_t)(p0 >> 32) ^ x3[i] ^ k1;
         x3[i] = (uint32_t)p0;
      }
      k0 += WEYL_0;
      k1 += WEYL_1;
   }
   for (unsigned i = 0; i < LANES; i++) {
      out[2 * i] = x0[i] | (uint64_t)x1[i] << 32;
      out[2 * i + 1] = x2[i] | (uint64_t)x3[i] << 32;
   }
}

static inline __attribute__((always_inline)) void fill(const rkb_random_t *stream, uint64_t position,
                                                       uint64_t count, uint64_t *out) {
   uint64_t done = 0;
   while (done < count && (position + done) % 2 != 0) {
      out[done] = rkb_random_at(stream, position + done);
      done++;
   }
   for (; count - done >= 2 * LANES; done += 2 * LANES)
      draw_lanes(stream, (position + done) / 2, out + done);
   for (; count - done >= 2; done += 2)
      draw_pair(stream, (position + done) / 2, out + done);
   if (done < count)
      out[done] = rkb_random_at(stream, position + done);
}

#if defined(__x86_64__)
/* Computes eight blocks at a time, each 32-bit value in a 64-bit lane, with the same arithmetic.  The two halves do not wait for each other. */
__attribute__((target("avx2"))) static void draw_eight_avx2(const rkb_random_t *stream, uint64_t block,
                                                            uint64_t out[16]) {
   const __m256i low = _mm256_set1_epi64x(0xffffffff);
   const __m256i m0 = _mm256_set1_epi64x((int64_t)MULTIPLIER_0),
                 m1 = _mm256_set1_epi64x((int64_t)MULTIPLIER_1);
   __m256i x0[2], x1[2], x2[2], x3[2];
   for (int h = 0; h < 2; h++) {
      const __m256i number =
         _mm256_add_epi64(_mm256_set1_epi64x((int64_t)block + 4 * h), _mm256_set_epi64x(3, 2, 1, 0));
      x0[h] = _mm256_and_si256(number, low);
      x1[h] = _mm256_srli_epi64(number, 32);
      x2[h] = _mm256_set1_epi64x(stream->stream[0]);
      x3[h] = _mm256_set1_epi64x(stream->stream[1]);
   }
   __m256i k0 = _mm256_set1_epi64x(stream->key[0]), k1 = _mm256_set1_epi64x(stream->key[1]);
   for (int round = 0; round < ROUNDS; round++) {
      for (int h = 0; h < 2; h++) {
         /* a product takes the lower halves of its factors alone, so only what is handed out is cut to them */
         const __m256i p0 = _mm256_mul_epu32(x0[h], m0), p1 = _mm256_mul_epu32(x2[h], m1);
         x0[h] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), x1[h]), k0);
         x1[h] = p1;
         x2[h] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), x3[h]), k1);
         x3[h] = p0;
      }
      k0 = _mm256_add_epi32(k0, _mm256_set1_epi64x(WEYL_0));
      k1 = _mm256_add_epi32(k1, _mm256_set1_epi64x(WEYL_1));
   }
   for (int h = 0; h < 2; h++) {
      const __m256i even = _mm256_or_si256(_mm256_and_si256(x0[h], low), _mm256_slli_epi64(x1[h], 32));
      const __m256i odd = _mm256_or_si256(_mm256_and_si256(x2[h], low), _mm256_slli_epi64(x3[h], 32));
      const __m256i first = _mm256_unpacklo_epi64(even, odd), second = _mm256_unpackhi_epi64(even, odd);
      _mm256_storeu_si256((__m256i *)(out + 8 * h), _mm256_permute2x128_si256(first, second, 0x20));
      _mm256_storeu_si256((__m256i *)(out + 8 * h + 4), _mm256_permute2x128_si256(first, second, 0x31));
   }
}

__attribute__((target("avx2"))) static void fill_avx2(const rkb_random_t *stream, uint64_t position,
                                                      uint64_t count, uint64_t *out) {
   uint64_t done = 0;
   if (count > 0 && position % 2 != 0)
      out[done++] = rkb_random_at(stream, position);
   for (; count - done >= 16; done += 16)
      draw_eight_avx2(stream, (position + done) / 2, out + done);
   fill(stream, position + done, count - done, out + done);
}
#endif

void rkb_random_fill(const rkb_random_t *stream, uint64_t position, uint64_t count, uint64_t *out) {
#if defined(__x86_64__)
   if (__builtin_cpu_supports("avx2")) {
      fill_avx2(stream, position, count, out);
      return;
   }
#endif
   fill(stream, position, count, out);
}

uint64_t rkb_random_next(rkb_random_t *stream) {
   return rkb_random_at(stream, stream->position++);
}

/* Lemire: 'Fast random integer generation in an interval', ACM TOMACS 29(1), 2019. */
uint64_t rkb_random_below(rkb_random_t *stream, uint64_t limit) {
   if (limit == 0)
      return 0;
   unsigned __int128 product = (unsigned __int128)rkb_random_next(stream) * limit;
   if ((uint64_t)product < limit) {
      uint64_t rejected = (0 - limit) % limit;
      while ((uint64_t)product < rejected)
         product = (unsigned __int128)rkb_random_next(stream) * limit;
   }
   return (uint64_t)(product >> 64);
}

double rkb_random_real(rkb_random_t *stream) {
   return (double)(rkb_random_next(stream) >> 11) * 0x1p-53;
}

/* Natural logarithm of x > 0 from exact steps and + - * / only, because libm may differ in the last bit between versions.
 * With x = m 2^e and m near 1, log m = 2 atanh((m - 1) / (m + 1)); 11 terms leave an error under 1e-17. */
static inline __attribute__((always_inline)) double portable_log(double x) {
   uint64_t bits;
   memcpy(&bits, &x, sizeof bits); /* x is a normal number: 2^-53 at least */
   uint64_t half = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3fe0000000000000);
   uint64_t biased = bits >> 52 | UINT64_C(0x4330000000000000); /* 2^52 plus the exponent, as a double */
   double m, exponent;
   memcpy(&m, &half, sizeof m);
   memcpy(&exponent, &biased, sizeof exponent);
   exponent -= 0x1p52 + 1022;
   bool low = m < 0.70710678118654752440;
   m = low ? 2 * m : m;
   exponent = low ? exponent - 1 : exponent;
   double s = (m - 1) / (m + 1);
   double s2 = s * s;
   static const double inverse[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                    1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
   double sum = 0;
   for (unsigned i = 0; i < sizeof inverse / sizeof inverse[0]; i++)
      sum = sum * s2 + inverse[i];
   return 2 * s * sum + exponent * 0.69314718055994530942;
}

/* Horner's rule, unrolled.  A task's inputs need millions of these, and a loop was a quarter slower. */
static inline __attribute__((always_inline)) double polynomial(const double c[8], double x) {
   return ((((((c[7] * x + c[6]) * x + c[5]) * x + c[4]) * x + c[3]) * x + c[2]) * x + c[1]) * x + c[0];
}

/* The normal quantile: Wichura, 'Algorithm AS 241', Applied Statistics 37(3), 1988, routine PPND16 (relative
 * accuracy about 1e-16).  Coefficients as published, from the constant term up; the centre, then the tails. */
static const double centre_over[8] = {
   3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
   4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
static const double centre_under[8] = {1.0,
                                       4.2313330701600911252e1,
                                       6.8718700749205790830e2,
                                       5.3941960214247511077e3,
                                       2.1213794301586595867e4,
                                       3.9307895800092710610e4,
                                       2.8729085735721942674e4,
                                       5.2264952788528545610e3};
#define CENTRE 0.425

static inline __attribute__((always_inline)) double centre_quantile(double q) {
   double r = 0.180625 - q * q;
   return q * polynomial(centre_over, r) / polynomial(centre_under, r);
}

static const double tail_over[8] = {
   1.42343711074968357734e0, 4.63033784615654529590e0,  5.76949722146069140550e0,  3.64784832476320460504e0,
   1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
static const double tail_under[8] = {1.0,
                                     2.05319162663775882187e0,
                                     1.67638483018380384940e0,
                                     6.89767334985100004550e-1,
                                     1.48103976427480074590e-1,
                                     1.51986665636164571966e-2,
                                     5.47593808499534494600e-4,
                                     1.05075007164441684324e-9};
#define TAIL 5.0

/* The argument of the tails' polynomials, from p and q = p - 1/2. */
static inline __attribute__((always_inline)) double tail_root(double p, double q) {
   return sqrt(-portable_log(q < 0 ? p : 1 - p));
}

static inline __attribute__((always_inline)) double tail_quantile(double r) {
   return polynomial(tail_over, r - 1.6) / polynomial(tail_under, r - 1.6);
}

static double normal_quantile(double p) {
   static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                               1.78482653991729133580e0,  2.96560571828504891230e-1,
                               2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
   static const double f[8] = {1.0,
                               5.99832206555887937690e-1,
                               1.36929880922735805310e-1,
                               1.48753612908506148525e-2,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
   double q = p - 0.5;
   if (fabs(q) <= CENTRE)
      return centre_quantile(q);
   double r = tail_root(p, q);
   double value = r <= TAIL ? tail_quantile(r) : polynomial(e, r - 5) / polynomial(f, r - 5);
   return q < 0 ? -value : value;
}

/* Uses 52 bits and a half: the result is never 0 or 1 and is symmetric about 1/2. */
double rkb_random_normal_of(uint64_t draw) {
   return normal_quantile(((double)(draw >> 12) + 0.5) * 0x1p-52);
}

/* With the exponent of 1, a draw's 52 bits are the number 1 + draw / 2^52.  All steps are exact. */
static inline __attribute__((always_inline)) double place_of(uint64_t draw) {
   uint64_t bits = draw >> 12 | UINT64_C(0x3ff0000000000000);
   double above;
   memcpy(&above, &bits, sizeof above);
   return above - 1 + 0x1p-53;
}

/* Each computes LANES quantiles as if all draws lay in the centre, or all in the tails.  The operations are those of the scalar code, so the bits are equal.
 * */
static inline __attribute__((always_inline)) void centre_lanes(const uint64_t draws[LANES], double q[LANES],
                                                               double out[LANES]) {
   for (unsigned i = 0; i < LANES; i++)
      q[i] = place_of(draws[i]) - 0.5;
   for (unsigned i = 0; i < LANES; i++)
      out[i] = centre_quantile(q[i]);
}

static inline __attribute__((always_inline)) void tail_lanes(const double p[LANES], double r[LANES],
                                                             double out[LANES]) {
   for (unsigned i = 0; i < LANES; i++)
      r[i] = tail_root(p[i], p[i] - 0.5);
   for (unsigned i = 0; i < LANES; i++) {
      double value = tail_quantile(r[i]);
      out[i] = p[i] - 0.5 < 0 ? -value : value;
   }
}

/* Draws are handled in batches.  In each batch the draws in the tails (15 of 100) are collected and then computed side by side too. */
#define BATCH 256u

static inline __attribute__((always_inline)) void normals_batch(unsigned count, const uint64_t *draws,
                                                                double *out) {
   double p[BATCH], q[LANES], r[LANES], value[LANES];
   uint16_t at[BATCH + LANES];
   unsigned found = 0, done = 0;
   for (; count - done >= LANES; done += LANES) {
      centre_lanes(draws + done, q, out + done);
      for (unsigned i = 0; i < LANES; i++) { /* branch-free, because the branch would be unpredictable */
         at[found] = (uint16_t)(done + i);
         found += !(fabs(q[i]) <= CENTRE);
      }
   }
   for (; done < count; done++)
      out[done] = rkb_random_normal_of(draws[done]);
   unsigned tail = 0;
   for (unsigned i = 0; i < found; i++)
      p[i] = place_of(draws[at[i]]);
   for (unsigned i = found; i % LANES != 0; i++)
      p[i] = 0.01; /* padding: any value in a tail fills the last group of LANES */
   for (; tail < found; tail += LANES) {
      tail_lanes(p + tail, r, value);
      for (unsigned i = 0; i < LANES && tail + i < found; i++)
         out[at[tail + i]] = r[i] <= TAIL ? value[i] : rkb_random_normal_of(draws[at[tail + i]]);
   }
}

static inline __attribute__((always_inline)) void normals(uint64_t count, const uint64_t *draws,
                                                          double *out) {
   for (uint64_t done = 0; done < count; done += BATCH)
      normals_batch(count - done < BATCH ? (unsigned)(count - done) : BATCH, draws + done, out + done);
}

#if defined(__x86_64__)
/* Uses no fused multiply-add, so that wider registers give the same numbers. */
__attribute__((target("avx2"))) static void normals_avx2(uint64_t count, const uint64_t *draws, double *out) {
   normals(count, draws, out);
}
#endif

void rkb_random_normals(uint64_t count, const uint64_t *draws, double *out) {
#if defined(__x86_64__)
   if (__builtin_cpu_supports("avx2")) {
      normals_avx2(count, draws, out);
      return;
   }
#endif
   normals(count, draws, out);
}

double rkb_random_normal(rkb_random_t *stream) {
   return rkb_random_normal_of(rkb_random_next(stream));
}

double rkb_random_normal_at(const rkb_random_t *stream, uint64_t position) {
   return rkb_random_normal_of(rkb_random_at(stream, position));
}
