/* Wilcoxon's signed-rank test and Holm's correction (paired_test.h).  Pure. */
#include "statistics/paired_test.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

typedef struct ranked {
   double size; /* magnitude of the difference */
   bool positive;
   uint32_t doubled; /* twice its rank, so that shared ranks are whole numbers too */
} ranked_t;

static int by_size(const void *left, const void *right) {
   const double a = ((const ranked_t *)left)->size, b = ((const ranked_t *)right)->size;
   return (a > b) - (a < b);
}

static void assign_ranks(ranked_t *list, uint32_t count) {
   qsort(list, count, sizeof *list, by_size);
   for (uint32_t first = 0, last; first < count; first = last) {
      for (last = first + 1; last < count && list[last].size == list[first].size;)
         last++;
      for (uint32_t i = first; i < last; i++)
         list[i].doubled = first + 1 + last; /* twice the mean of the ranks first + 1 .. last */
   }
}

/* The share of all assignments of signs whose sum of positive ranks is at least as far from the middle as the
 * observed sum. */
static double exact_p(const ranked_t *list, uint32_t count, uint32_t positive, uint32_t total) {
   double *shares = rkb_allocate((size_t)total + 1, sizeof *shares);
   double p = 0;
   uint32_t reached = 0;
   shares[0] = 1;
   for (uint32_t i = 0; i < count; i++) {
      const uint32_t rank = list[i].doubled;
      reached += rank;
      for (uint32_t sum = reached + 1; sum-- > 0;)
         shares[sum] = 0.5 * (shares[sum] + (sum >= rank ? shares[sum - rank] : 0));
   }
   const uint32_t other = total - positive, low = positive < other ? positive : other;
   for (uint32_t sum = 0; sum <= total; sum++)
      if (sum <= low || sum >= total - low)
         p += shares[sum];
   free(shares);
   return p < 1 ? p : 1;
}

static double normal_p(const ranked_t *list, uint32_t count, double positive) {
   double mean = 0, variance = 0;
   for (uint32_t i = 0; i < count; i++) {
      const double rank = 0.5 * list[i].doubled;
      mean += 0.5 * rank;
      variance += 0.25 * rank * rank;
   }
   const double distance = fmax(0, fabs(positive - mean) - 0.5);
   return erfc(distance / sqrt(2 * variance));
}

rkb_signed_rank_t rkb_signed_rank(const double *differences, uint32_t count) {
   rkb_signed_rank_t result = {.p = 1, .least_p = 1, .exact = true};
   ranked_t *list = rkb_allocate((size_t)count + 1, sizeof *list);
   uint32_t positive = 0, total = 0;
   for (uint32_t i = 0; i < count; i++)
      if (differences[i] != 0)
         list[result.pairs++] = (ranked_t){.size = fabs(differences[i]), .positive = differences[i] > 0};
   assign_ranks(list, result.pairs);
   for (uint32_t i = 0; i < result.pairs; i++) {
      total += list[i].doubled;
      positive += list[i].positive ? list[i].doubled : 0;
   }
   result.positive = 0.5 * positive;
   result.exact = result.pairs <= RKB_SIGNED_RANK_EXACT;
   if (result.pairs > 0) {
      result.p = result.exact ? exact_p(list, result.pairs, positive, total)
                              : normal_p(list, result.pairs, result.positive);
      result.least_p = ldexp(1, 1 - (int)(result.pairs < 1000 ? result.pairs : 1000));
   }
   free(list);
   return result;
}

typedef struct numbered {
   double p;
   uint32_t index;
} numbered_t;

static int by_p(const void *left, const void *right) {
   const numbered_t *a = left, *b = right;
   return a->p != b->p ? (a->p > b->p) - (a->p < b->p) : (a->index > b->index) - (a->index < b->index);
}

void rkb_holm(const double *p, uint32_t count, double *adjusted) {
   numbered_t *order = rkb_allocate((size_t)count + 1, sizeof *order);
   double least = 0;
   for (uint32_t i = 0; i < count; i++)
      order[i] = (numbered_t){p[i], i};
   qsort(order, count, sizeof *order, by_p);
   for (uint32_t i = 0; i < count; i++) {
      least = fmax(least, fmin(1, order[i].p * (count - i)));
      adjusted[order[i].index] = least;
   }
   free(order);
}

double rkb_sign_test(uint32_t one_way, uint32_t other_way) {
   const double n = (double)one_way + other_way;
   const uint32_t fewer = one_way < other_way ? one_way : other_way;
   double tail = 0;
   for (uint32_t k = 0; k <= fewer; k++)
      tail += exp(lgamma(n + 1) - lgamma(k + 1.0) - lgamma(n - k + 1) - n * log(2.0));
   return fmin(1, 2 * tail);
}
