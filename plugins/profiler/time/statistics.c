/* Trimmed means and cluster bootstrap (Efron and Tibshirani, 'An Introduction to the Bootstrap', 1993, chapters 8 and 13:
 * percentile intervals; Field and Welsh, 'Bootstrapping clustered data', JRSS B 2007).  Owns nothing. */
#include "statistics.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 2000, TRIM_FIFTH = 5 };

static int by_value(const void *a, const void *b) {
   double x = *(const double *)a, y = *(const double *)b;
   return (x > y) - (x < y);
}

double trimmed_mean(double *times, size_t count) {
   size_t cut = count / TRIM_FIFTH;
   double sum = 0;
   if (count == 0)
      return 0;
   qsort(times, count, sizeof *times, by_value);
   for (size_t i = cut; i < count - cut; i++)
      sum += times[i];
   return sum / (double)(count - 2 * cut);
}

/* A small generator that only resampling uses (Steele, Lea and Flood, 'Fast splittable pseudorandom number
 * generators', OOPSLA 2014: SplitMix64).  Its modulo bias is below 2^-40 for the counts here. */
static size_t draw(uint64_t *state, size_t limit) {
   uint64_t z = *state += 0x9e3779b97f4a7c15u;
   z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
   z = (z ^ z >> 27) * 0x94d049bb133111ebu;
   return (size_t)((z ^ z >> 31) % limit);
}

static size_t total(const samples_t *s) {
   size_t count = 0;
   for (size_t c = 0; c < s->clusters; c++)
      count += s->counts[c];
   return count;
}

static size_t start_of(const samples_t *s, size_t cluster) {
   size_t start = 0;
   for (size_t c = 0; c < cluster; c++)
      start += s->counts[c];
   return start;
}

/* Returns one resampled mean: of the clusters in `chosen`, with samples drawn within each. */
static double resampled_mean(const samples_t *s, const size_t *chosen, double *scratch, uint64_t *state) {
   size_t n = 0;
   for (size_t c = 0; c < s->clusters; c++) {
      size_t count = s->counts[chosen[c]], start = start_of(s, chosen[c]);
      for (size_t i = 0; i < count; i++)
         scratch[n++] = s->times[start + draw(state, count)];
   }
   return trimmed_mean(scratch, n);
}

static estimate_t interval(double value, double *draws, double alpha, double least_width) {
   qsort(draws, DRAWS, sizeof *draws, by_value);
   estimate_t e = {value, draws[(size_t)(alpha / 2 * DRAWS)], draws[(size_t)((1 - alpha / 2) * (DRAWS - 1))]};
   if (e.high - e.low < least_width) {
      e.low = fmin(e.low, value - least_width / 2);
      e.high = fmax(e.high, value + least_width / 2);
   }
   return e;
}

/* Resampling may draw the largest cluster every time, so there must be room for that. */
static size_t scratch_room(const samples_t *s) {
   size_t largest = 0;
   for (size_t c = 0; c < s->clusters; c++)
      largest = s->counts[c] > largest ? s->counts[c] : largest;
   return largest * s->clusters;
}

static estimate_t bootstrap(const samples_t *a, const samples_t *b, double alpha, double resolution,
                            uint64_t seed) {
   const estimate_t none = {NAN, NAN, NAN};
   size_t count = total(a), count_b = b ? total(b) : 0;
   size_t room = scratch_room(a) + (b ? scratch_room(b) : 0) + count + count_b;
   if (count == 0 || (b && (count_b == 0 || b->clusters != a->clusters)))
      return none;
   double *scratch = malloc(room * sizeof *scratch), *draws = malloc(DRAWS * sizeof *draws);
   size_t *chosen = malloc(a->clusters * sizeof *chosen);
   estimate_t result = none;
   if (scratch && draws && chosen) {
      memcpy(scratch, a->times, count * sizeof *scratch);
      double mean = trimmed_mean(scratch, count), mean_b = 1, least = resolution / sqrt((double)count);
      if (b) {
         memcpy(scratch, b->times, count_b * sizeof *scratch);
         mean_b = trimmed_mean(scratch, count_b);
         least = least / mean_b + mean / (mean_b * mean_b) * resolution / sqrt((double)count_b);
      }
      for (int i = 0; i < DRAWS; i++) {
         for (size_t c = 0; c < a->clusters; c++)
            chosen[c] = draw(&seed, a->clusters);
         draws[i] = resampled_mean(a, chosen, scratch, &seed);
         if (b)
            draws[i] /= resampled_mean(b, chosen, scratch, &seed);
      }
      result = interval(mean / mean_b, draws, alpha, least);
   }
   free(chosen);
   free(draws);
   free(scratch);
   return result;
}

estimate_t bootstrap_mean(const samples_t *samples, double alpha, double resolution, uint64_t seed) {
   return bootstrap(samples, NULL, alpha, resolution, seed);
}

estimate_t bootstrap_ratio(const samples_t *a, const samples_t *b, double alpha, double resolution,
                           uint64_t seed) {
   return bootstrap(a, b, alpha, resolution, seed);
}

uint32_t rounds_after(double first_ms, uint32_t most) {
   enum { LEAST = 2, LONG_MS = 600 };
   uint32_t rounds = most;
   while (rounds > LEAST && rounds * first_ms > LONG_MS)
      rounds--;
   return rounds;
}
