/* Chooses the untried schedule that is worth a build.  One thread a graph. */
#include "generator/search/acquisition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"
#include "generator/decisions/launch_decisions.h"
#include "generator/search/forecast.h"
#include "generator/kernel/kernel_text.h"
#include "generator/decisions/schedule_block.h"

#define LEAST_TRIED 6u  /* with fewer accepted kernels there is too little to learn from */
#define DRAWS 6000u     /* schedules that one call draws; those that belong to other slots are skipped */
#define LOOKED_AT 400u  /* schedules whose time one call forecasts */
#define ELITES 4u       /* the number of best schedules near which others are drawn */
#define KEPT 24u        /* the most promising schedules; when one cannot be written, the next is tried */
#define WORST 1.4       /* a difference of logarithms: all times above four times the best count as equally bad */
/* Requests in flight do not know of each other, so they take turns to look at four parts of the schedules. */
#define GROUPS 4u
/* The first GROUPED requests take the most promising schedule of their part, the next GROUPED the second, and so on. */
#define GROUPED 16u
#define CURIOSITY 1.5 /* the most standard deviations that count in a schedule's favour */

typedef struct promising {
   rkb_schedule_t schedule;
   double score, mean;
   uint32_t base;
} promising_t;

typedef struct acquisition {
   rkb_graph_t *graph;
   const rkb_target_t *target;
   rkb_random_t *stream;
   enum rkb_focus focus;
   rkb_forecast_t *forecast;
   rkb_schedule_t *bases; /* the parent, then elites */
   int64_t numbers[ELITES + 1]; /* the numbers of their candidates; 0 for the parent */
   /* Of each base's launches: the roots of their estimated times. */
   double weights[ELITES + 1][RKB_MAX_SCHEDULE_LAUNCHES];
   uint32_t base_count;
   double best, curiosity;
   promising_t *places, *kept[KEPT]; /* kept: pointers to places, in order of ascending score */
   uint32_t kept_count;
} acquisition_t;

static int by_time(const void *left, const void *right) {
   const rkb_schedule_tried_t *const *a = left, *const *b = right;
   if ((*a)->microseconds != (*b)->microseconds)
      return (*a)->microseconds < (*b)->microseconds ? -1 : 1;
   return *a < *b ? -1 : *a > *b;
}

/* Chooses the tried kernels that count, best first: all of them, or, if they are too many, the better part and the latest. */
static uint32_t choose_tried(const rkb_experience_t *experience, const rkb_schedule_tried_t **chosen) {
   const rkb_schedule_tried_t **sorted = rkb_allocate(experience->count + 1, sizeof *sorted);
   const uint32_t recent = RKB_FORECAST_MOST / 4, late = experience->count > recent ? experience->count - recent : 0;
   uint32_t count = 0;
   for (uint32_t i = 0; i < experience->count; i++)
      sorted[i] = &experience->tried[i];
   qsort(sorted, experience->count, sizeof *sorted, by_time);
   for (uint32_t i = 0; i < experience->count && count < RKB_FORECAST_MOST; i++)
      if (i < RKB_FORECAST_MOST - recent || sorted[i] >= &experience->tried[late])
         chosen[count++] = sorted[i];
   free(sorted);
   return count;
}

static uint64_t key_of(const rkb_graph_t *graph, const rkb_schedule_t *schedule) {
   uint64_t key = schedule->count;
   for (uint32_t l = 0; l < schedule->count; l++) {
      const rkb_launch_t *launch = &schedule->launches[l];
      int64_t values[RKB_DECISIONS + 1] = {[RKB_DECISIONS] = launch->mapping};
      for (uint32_t d = 0; d < RKB_DECISIONS; d++)
         values[d] = rkb_decision_applies(graph, launch, d) ? launch->decisions[d] : -1;
      key = rkb_hash64(values, sizeof values, key);
   }
   return key;
}

/* Copies only the launches that a schedule has: a schedule is large, and most have few. */
static void copy_schedule(rkb_schedule_t *to, const rkb_schedule_t *from) {
   to->count = from->count;
   memcpy(to->launches, from->launches, from->count * sizeof *from->launches);
}

static void add_base(acquisition_t *own, const rkb_schedule_t *schedule, int64_t number) {
   for (uint32_t b = 0; b < own->base_count; b++)
      if (key_of(own->graph, &own->bases[b]) == key_of(own->graph, schedule))
         return;
   if (own->base_count > ELITES || !schedule->count)
      return;
   own->bases[own->base_count] = *schedule;
   own->numbers[own->base_count] = number;
   for (uint32_t l = 0; l < schedule->count; l++)
      own->weights[own->base_count][l] = sqrt(rkb_launch_estimate(own->graph, own->target, &schedule->launches[l]));
   own->base_count++;
}

/* Learns from the kernels that were tried.  False: too few were tried. */
static bool learn(acquisition_t *own, const rkb_experience_t *experience, rkb_schedule_t *scratch) {
   const rkb_schedule_tried_t *chosen[RKB_FORECAST_MOST];
   const uint32_t count = choose_tried(experience, chosen);
   uint32_t accepted = 0;
   rkb_error_t ignored;
   for (uint32_t i = 0; i < count; i++)
      accepted += isfinite(chosen[i]->microseconds);
   if (accepted < LEAST_TRIED)
      return false;
   for (uint32_t i = 0; i < count; i++) {
      if (rkb_schedule_parse(own->graph, chosen[i]->source, scratch, &ignored) != RKB_OK)
         continue;
      if (!own->forecast) {
         double times[RKB_MAX_SCHEDULE_LAUNCHES];
         for (uint32_t l = 0; l < scratch->count; l++)
            times[l] = rkb_launch_estimate(own->graph, own->target, &scratch->launches[l]);
         own->forecast = rkb_forecast_new(own->graph, scratch, times);
         own->best = log(chosen[i]->microseconds);
      }
      if (isfinite(chosen[i]->microseconds))
         add_base(own, scratch, chosen[i]->number);
      rkb_forecast_observe(own->forecast, scratch, fmin(log(chosen[i]->microseconds), own->best + WORST));
   }
   return own->forecast && rkb_forecast_fit(own->forecast);
}

static uint32_t draw_launch(const acquisition_t *own, uint32_t base) {
   const uint32_t count = own->bases[base].count;
   double sum = 0;
   for (uint32_t l = 0; l < count; l++)
      sum += own->weights[base][l];
   double draw = rkb_random_real(own->stream) * sum;
   for (uint32_t l = 0; l + 1 < count; l++)
      if ((draw -= own->weights[base][l]) < 0)
         return l;
   return count - 1;
}

static bool same_work(const rkb_launch_t *a, const rkb_launch_t *b) {
   return a->anchor_count == b->anchor_count && a->root_count == b->root_count &&
          memcmp(a->anchors, b->anchors, a->anchor_count * sizeof *a->anchors) == 0 &&
          memcmp(a->roots, b->roots, a->root_count * sizeof *a->roots) == 0;
}

/* Takes some launches from another base. */
static void take_launches(const acquisition_t *own, const rkb_schedule_t *other, rkb_schedule_t *schedule) {
   for (uint32_t l = 0; l < schedule->count; l++)
      for (uint32_t o = 0; o < other->count; o++)
         if (same_work(&schedule->launches[l], &other->launches[o]) && rkb_random_below(own->stream, 2))
            schedule->launches[l] = other->launches[o];
}

/* Draws a schedule near one of the bases; the parent is chosen as often as all others together.  False:
 * arithmetic refuses it. */
static bool draw_near(const acquisition_t *own, uint32_t *base, rkb_schedule_t *drawn) {
   char note[320] = ""; /* several changes of one decision count as one */
   const uint32_t others = own->base_count - 1;
   *base = others && rkb_random_below(own->stream, 2) ? 1 + (uint32_t)rkb_random_below(own->stream, others) : 0;
   copy_schedule(drawn, &own->bases[*base]);
   if (others && rkb_random_below(own->stream, 4) == 0)
      take_launches(own, &own->bases[(*base + 1 + (uint32_t)rkb_random_below(own->stream, others)) % own->base_count], drawn);
   for (uint32_t changes = 1; changes < 6; changes++) {
      rkb_launch_vary(own->graph, own->target, own->stream, own->focus, &drawn->launches[draw_launch(own, *base)], note, sizeof note);
      if (rkb_random_below(own->stream, 2))
         break;
   }
   for (uint32_t l = 0; l < drawn->count; l++)
      if (!rkb_launch_is_possible(own->graph, own->target, &drawn->launches[l]))
         return false;
   return true;
}

static void keep(acquisition_t *own, const rkb_schedule_t *schedule, uint32_t base, double mean, double score) {
   uint32_t at = own->kept_count;
   while (at > 0 && score < own->kept[at - 1]->score)
      at--;
   if (at == KEPT)
      return;
   promising_t *place = own->kept_count < KEPT ? &own->places[own->kept_count++] : own->kept[KEPT - 1];
   memmove(&own->kept[at + 1], &own->kept[at], (own->kept_count - at - 1) * sizeof *own->kept);
   own->kept[at] = place;
   copy_schedule(&place->schedule, schedule);
   place->base = base;
   place->mean = mean;
   place->score = score;
}

static bool is_kept(const acquisition_t *own, const rkb_schedule_t *schedule, double score) {
   for (uint32_t i = 0; i < own->kept_count; i++)
      if (own->kept[i]->score == score && key_of(own->graph, &own->kept[i]->schedule) == key_of(own->graph, schedule))
         return true;
   return false;
}

/* Draws schedules, and keeps the most promising of those that belong to this slot. */
static void look_around(acquisition_t *own, uint32_t slot, rkb_schedule_t *drawn) {
   uint32_t base;
   for (uint32_t n = 0, looked = 0; n < DRAWS && looked < LOOKED_AT; n++) {
      if (!draw_near(own, &base, drawn) || key_of(own->graph, drawn) % GROUPS != slot % GROUPS)
         continue;
      double mean, deviation;
      rkb_forecast_guess(own->forecast, drawn, &mean, &deviation);
      looked++;
      const double score = mean - own->curiosity * deviation;
      if (deviation > 0 && !is_kept(own, drawn, score))
         keep(own, drawn, base, mean, score);
   }
}

static uint64_t text_key(const char *text) {
   return rkb_hash64(text, strlen(text), 0);
}

/* keys: hashes of the tried texts, made when the first is needed.  Most texts begin alike, so comparing them
 * whole takes long. */
static bool is_known(const rkb_experience_t *experience, uint64_t **keys, const char *text) {
   if (!*keys) {
      *keys = rkb_allocate(experience->count + 1, sizeof **keys);
      for (uint32_t i = 0; i < experience->count; i++)
         (*keys)[i] = text_key(experience->tried[i].source);
   }
   const uint64_t key = text_key(text);
   for (uint32_t i = 0; i < experience->count; i++)
      if ((*keys)[i] == key && strcmp(experience->tried[i].source, text) == 0)
         return true;
   return false;
}

/* Describes the decisions that differ from the base's, which has the same launches, and the forecast. */
static void describe(const acquisition_t *own, const promising_t *found, char *note, size_t size) {
   size_t used = 0;
   for (uint32_t l = 0; l < found->schedule.count; l++) {
      const rkb_launch_t *to = &found->schedule.launches[l], *from = &own->bases[found->base].launches[l];
      const char *name = own->graph->nodes[to->anchor_count ? to->anchors[0] : to->roots[0]].name;
      for (uint32_t d = 0; d < RKB_DECISIONS; d++)
         if (to->decisions[d] != from->decisions[d] && rkb_decision_applies(own->graph, to, d) && used + 1 < size)
            used += (size_t)snprintf(note + used, size - used, "%s: %s %lld -> %lld; ", name, rkb_decision_name(d), (long long)from->decisions[d],
                                     (long long)to->decisions[d]);
   }
   if (used + 1 < size)
      snprintf(note + used, size - used, "guessed: %.3g us", exp(found->mean));
}

bool rkb_schedule_acquire(rkb_graph_t *graph, const rkb_target_t *target, rkb_random_t *stream, enum rkb_focus focus, uint32_t slot,
                          const rkb_experience_t *experience, const rkb_schedule_t *parent, char **text, int64_t *base, char *note,
                          size_t note_size) {
   acquisition_t own = {.graph = graph, .target = target, .stream = stream, .focus = focus, .curiosity = CURIOSITY * rkb_random_real(stream)};
   rkb_schedule_t *scratch = rkb_allocate(1, sizeof *scratch);
   uint64_t *keys = NULL;
   rkb_error_t ignored;
   *text = NULL;
   own.places = rkb_allocate(KEPT, sizeof *own.places);
   own.bases = rkb_allocate(ELITES + 1, sizeof *own.bases);
   if (parent)
      add_base(&own, parent, 0);
   if (learn(&own, experience, scratch) && own.base_count)
      look_around(&own, slot, scratch);
   for (uint32_t i = 0; i < own.kept_count && !*text; i++) {
      const promising_t *found = own.kept[(i + slot / GROUPED) % own.kept_count];
      if (rkb_kernel_write(graph, &found->schedule, target->shared_bytes, text, &ignored) != RKB_OK)
         *text = NULL;
      else if (is_known(experience, &keys, *text)) {
         free(*text);
         *text = NULL;
      } else {
         *base = own.numbers[found->base];
         describe(&own, found, note, note_size);
      }
   }
   rkb_forecast_free(own.forecast);
   free(keys);
   free(own.bases);
   free(own.places);
   free(scratch);
   return *text != NULL;
}
