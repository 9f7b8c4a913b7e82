/* An additive model over choices, and the choice of an untried point by it. */
#include "additive_model.h"
#include <math.h>
#include <stdlib.h>
#include "moves.h"

enum { POOL = 48, CHOICES_MAX = 64 };

/* A point without an objective counts as this much slower than the mean, as a logarithm: e times. */
static const double UNMEASURED = 1.0;

typedef struct model {
   double mean, deviation;
   double effect[ASSIGNMENT_MAX][CHOICES_MAX];
   uint32_t tried[ASSIGNMENT_MAX][CHOICES_MAX];
} model_t;

static bool usable(const guide_point_t *point) {
   return point->has_objective && point->objective > 0 && isfinite(point->objective);
}

static void fit(model_t *model, const guide_point_t *points, uint32_t count) {
   double sum = 0, squares = 0;
   uint32_t measured = 0;
   for (uint32_t i = 0; i < count; i++) {
      if (!usable(&points[i]))
         continue;
      sum += log(points[i].objective);
      measured++;
   }
   model->mean = measured > 0 ? sum / measured : 0;
   for (uint32_t i = 0; i < count; i++) {
      double above = usable(&points[i]) ? log(points[i].objective) - model->mean : UNMEASURED;
      squares += above * above;
      for (uint32_t p = 0; p < points[i].at.count; p++) {
         uint32_t choice = points[i].at.choice[p];
         if (choice >= CHOICES_MAX)
            continue;
         model->effect[p][choice] += above;
         model->tried[p][choice]++;
      }
   }
   model->deviation = count > 1 ? sqrt(squares / count) : UNMEASURED;
   for (uint32_t p = 0; p < ASSIGNMENT_MAX; p++)
      for (uint32_t c = 0; c < CHOICES_MAX; c++)
         model->effect[p][c] /= model->tried[p][c] + 1.0;
}

/* Draws from the model's predictive distribution of a point. */
static double believe(const model_t *model, const rkb_random_api_t *random, rkb_random_t *stream,
                      const assignment_t *at) {
   double value = model->mean, doubt = 0;
   for (uint32_t p = 0; p < at->count; p++) {
      if (at->choice[p] >= CHOICES_MAX)
         continue;
      value += model->effect[p][at->choice[p]];
      doubt += 1.0 / (model->tried[p][at->choice[p]] + 1.0);
   }
   return value + model->deviation * sqrt(doubt / (at->count > 0 ? at->count : 1)) * random->normal(stream);
}

static bool is_tried(const guide_point_t *points, uint32_t count, const assignment_t *at) {
   for (uint32_t i = 0; i < count; i++)
      if (assignment_equal(&points[i].at, at))
         return true;
   return false;
}

static const guide_point_t *find_best(const guide_point_t *points, uint32_t count) {
   const guide_point_t *best = NULL;
   for (uint32_t i = 0; i < count; i++)
      if (usable(&points[i]) && (!best || points[i].objective < best->objective))
         best = &points[i];
   return best;
}

bool additive_model_move(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *manifest,
                         const guide_point_t *points, uint32_t point_count, assignment_t *assignment) {
   model_t *model = calloc(1, sizeof *model);
   if (!model)
      return false;
   fit(model, points, point_count);
   const guide_point_t *best = find_best(points, point_count);
   const assignment_t parent = *assignment;
   bool found = false;
   double least = 0;
   for (uint32_t i = 0; i < POOL; i++) {
      assignment_t next = i % 3 == 1 && best ? best->at : parent;
      bool moved = i % 3 == 2 ? move_anywhere(random, stream, manifest, &next)
                              : move_to_neighbour(random, stream, manifest,
                                                  1 + (uint32_t)random->below(stream, 2), &next);
      if (!moved || assignment_equal(&next, &parent) || is_tried(points, point_count, &next))
         continue;
      double belief = believe(model, random, stream, &next);
      if (!found || belief < least) {
         found = true;
         least = belief;
         *assignment = next;
      }
   }
   free(model);
   return found;
}
