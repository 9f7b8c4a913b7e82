/* rkb-bench-tuning: how close rkb.strategy.tune comes to the best point of a tune space in few evaluations.  It uses spaces of which others have measured
 * every point.  A checkout of github.com/AutoTuningAssociation/benchmark_hub has them:
 *
 *    rkb-bench-tuning [--seeds N] HUB/cachefiles/{convolution,dedispersion}_milo/[A-Z]*_T4.json.gz
 *
 * For each space, prints the space's least time divided by the best time found after 20, 50 and 100
 * evaluations: the mean of N seeds (10), and beside it the same for random configurations without repetition
 * (200 seeds).  A failed configuration is an evaluation too, and before the first correct one the fraction is
 * 0.  Then it prints geometric means over the spaces: of the GPUs on which the strategy's constants were
 * chosen, of the others, of all.  One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/usage.h"
#include "base/random.h"
#include "bench/t4_space.h"
#include "tuner/tuner.h"

enum { STEPS = 3, SEEDS = 10, SEEDS_MAX = 1000, RANDOM_SEEDS = 200 };
static const uint32_t EVALUATIONS[STEPS] = {20, 50, 100};
static const char *const CHOSEN_ON[] = {"A100", "A4000", "A6000"};

static const rkb_random_api_t RANDOM = {.size = sizeof RANDOM,
                                        .next = rkb_random_next,
                                        .below = rkb_random_below,
                                        .real = rkb_random_real,
                                        .normal = rkb_random_normal};

typedef struct fractions {
   double at[STEPS];
} fractions_t;

typedef struct group {
   const char *name;
   uint32_t count;
   fractions_t tuned, random; /* sums of logarithms */
} group_t;

/* Adds the effect of one evaluation: `best` is the least time of the first `done`. */
static void note(fractions_t *sums, const t4_space_t *t4, uint32_t done, double best) {
   for (uint32_t s = 0; s < STEPS; s++)
      if (done == EVALUATIONS[s])
         sums->at[s] += isfinite(best) ? t4->optimum / best : 0;
}

static int tune_once(const t4_space_t *t4, const tuning_space_t *space, uint64_t seed, fractions_t *sums,
                     rkb_error_t *err) {
   tuner_t *tuner = NULL;
   double best = INFINITY;
   int status = tuner_create(space, &RANDOM, rkb_random_stream(seed, "tuning", 0, 0), &tuner, err);
   if (status != RKB_OK)
      return status;
   for (uint32_t done = 1; done <= EVALUATIONS[STEPS - 1]; done++) {
      uint32_t point;
      if (tuner_next(tuner, &point)) {
         tuner_tell(tuner, point, t4->times[point]);
         best = fmin(best, t4->times[point]);
      }
      note(sums, t4, done, best);
   }
   tuner_destroy(tuner);
   return RKB_OK;
}

/* The first evaluations of a shuffle of all points. */
static void draw_once(const t4_space_t *t4, uint32_t *points, uint64_t seed, fractions_t *sums) {
   rkb_random_t stream = rkb_random_stream(seed, "drawing", 0, 0);
   double best = INFINITY;
   for (uint32_t i = 0; i < t4->point_count; i++)
      points[i] = i;
   for (uint32_t done = 1; done <= EVALUATIONS[STEPS - 1]; done++) {
      if (done <= t4->point_count) {
         uint32_t other = done - 1 + (uint32_t)rkb_random_below(&stream, t4->point_count - (done - 1));
         uint32_t point = points[other];
         points[other] = points[done - 1];
         best = fmin(best, t4->times[point]);
      }
      note(sums, t4, done, best);
   }
}

static void print_row(const char *name, const fractions_t *tuned, const fractions_t *random) {
   printf("| %s |", name);
   for (uint32_t s = 0; s < STEPS; s++)
      printf(" %.3f |", tuned->at[s]);
   for (uint32_t s = 0; s < STEPS; s++)
      printf(" %.3f |", random->at[s]);
   putchar('\n');
   fflush(stdout);
}

static void add_to(group_t *group, const fractions_t *tuned, const fractions_t *random) {
   group->count++;
   for (uint32_t s = 0; s < STEPS; s++) {
      group->tuned.at[s] += log(fmax(tuned->at[s], 1e-9)); /* avoids minus infinity for a space where nothing was found */
      group->random.at[s] += log(fmax(random->at[s], 1e-9));
   }
}

static void print_group(const group_t *group) {
   fractions_t tuned, random;
   if (group->count == 0)
      return;
   for (uint32_t s = 0; s < STEPS; s++) {
      tuned.at[s] = exp(group->tuned.at[s] / group->count);
      random.at[s] = exp(group->random.at[s] / group->count);
   }
   print_row(group->name, &tuned, &random);
}

static bool chosen_on(const char *name) {
   for (size_t i = 0; i < sizeof CHOSEN_ON / sizeof *CHOSEN_ON; i++)
      if (strstr(name, CHOSEN_ON[i]))
         return true;
   return false;
}

/* The last folder and the file, without the endings: convolution_milo/A100. */
static void shorten(const char *path, char *name, size_t room) {
   const char *slash = strrchr(path, '/');
   while (slash && slash > path && slash[-1] != '/')
      slash--;
   snprintf(name, room, "%s", slash ? slash : path);
   for (const char *const *ending = (const char *const[]){".gz", ".json", "_T4", NULL}; *ending; ending++) {
      size_t length = strlen(name), cut = strlen(*ending);
      if (length > cut && strcmp(name + length - cut, *ending) == 0)
         name[length - cut] = '\0';
   }
}

static int measure(const char *path, uint32_t seeds, fractions_t *tuned, fractions_t *random, rkb_error_t *err) {
   t4_space_t t4;
   tuning_space_t space = {0};
   *tuned = *random = (fractions_t){{0}};
   int status = t4_space_read(path, &t4, err);
   if (status != RKB_OK)
      return status;
   uint32_t *points = rkb_allocate(t4.point_count, sizeof *points);
   status = points ? tuning_space_fill(&space, t4.values, t4.point_count, t4.parameter_count, err)
                   : rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u points", t4.point_count);
   for (uint32_t seed = 0; status == RKB_OK && seed < seeds; seed++)
      status = tune_once(&t4, &space, seed, tuned, err);
   for (uint32_t seed = 0; status == RKB_OK && seed < RANDOM_SEEDS; seed++)
      draw_once(&t4, points, seed, random);
   for (uint32_t s = 0; s < STEPS; s++) {
      tuned->at[s] /= seeds;
      random->at[s] /= RANDOM_SEEDS;
   }
   tuning_space_free(&space);
   free(points);
   t4_space_free(&t4);
   return status;
}

int main(int argc, char **argv) {
   group_t chosen = {.name = "A100, A4000, A6000"}, others = {.name = "the others"}, all = {.name = "all"};
   static const char usage[] =
      "usage: rkb-bench-tuning [--seeds N] FILE_T4.json[.gz]...\n"
      "What share of the optimum rkb.strategy.tune's tuner reaches after 20, 50 and 100 evaluations on spaces that were measured\n"
      "whole, beside random choice, as the mean over N seeds.\n";
   long seeds = SEEDS;
   int first = 1;
   const int over = rkb_usage(argc, argv, 1 << 20, usage);
   if (over >= 0)
      return over;
   if (argc > 2 && strcmp(argv[1], "--seeds") == 0) {
      seeds = strtol(argv[2], NULL, 10);
      first = 3;
   }
   if (first >= argc || seeds < 1 || seeds > SEEDS_MAX) {
      fprintf(stderr, "%sN is from 1 to %d\n", usage, SEEDS_MAX);
      return 2;
   }
   printf("| space | tuned, 20 | 50 | 100 | random, 20 | 50 | 100 |\n|---|---|---|---|---|---|---|\n");
   for (int i = first; i < argc; i++) {
      fractions_t tuned, random;
      char name[256];
      rkb_error_t err = {0};
      if (measure(argv[i], (uint32_t)seeds, &tuned, &random, &err) != RKB_OK) {
         fprintf(stderr, "%s\n", err.message);
         return 1;
      }
      shorten(argv[i], name, sizeof name);
      print_row(name, &tuned, &random);
      add_to(chosen_on(name) ? &chosen : &others, &tuned, &random);
      add_to(&all, &tuned, &random);
   }
   print_group(&chosen);
   print_group(&others);
   print_group(&all);
   return 0;
}
