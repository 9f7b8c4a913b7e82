/* Draws cases whose sizes tell dims apart.  Pure but for the random stream; any thread. */
#include "task/distinct_sizes.h"

#include <stdlib.h>
#include "base/memory.h"
#include "task/task_parts.h"

#define MOST_TURNS 8u
#define FEWEST_MULTIPLES 4 /* of a dim's step, among which a size is drawn */
#define PROBE_BITS 11u /* sizes below 2048: more than the tiles that kernels divide them into */

/* whole: a multiple of 16, where the dim has one. */
static int64_t probe_dim(const rkb_dim_t *dim, rkb_random_t *stream, bool whole) {
   int64_t low = dim->low < 2 && dim->high >= 2 ? 2 : dim->low;
   const uint32_t least_bits = whole ? 4 : 0;
   int64_t most = INT64_C(4) << (least_bits + rkb_random_below(stream, PROBE_BITS - 1 - least_bits));
   if (most < FEWEST_MULTIPLES * dim->multiple_of)
      most = FEWEST_MULTIPLES * dim->multiple_of;
   int64_t high = dim->high - low < most ? dim->high : low + most;
   /* The last multiple is as likely as the others, which several numbers are rounded to. */
   int64_t value = low + (int64_t)rkb_random_below(stream, (uint64_t)(high - low + dim->multiple_of)),
           step = dim->multiple_of;
   if (whole && high >= 16)
      step = step % 16 == 0 ? step : 16 * step;
   else if (rkb_random_below(stream, 2) && high >= 8)
      step = step % 8 == 0 ? step : 8 * step;
   if (dim->multiple_of > 1 && dim->high - dim->high % step - step < low)
      step = dim->multiple_of; /* else the dim would have one value in all cases */
   value -= value % step;
   while (value < low)
      value += step;
   return value <= dim->high ? value : dim->low;
}

/* Choices of the first few dims go through all their combinations from draw to draw, so that none is rare; *turns is how many
 * combinations those have. */
static int64_t probe_choice(const rkb_dim_t *dim, rkb_random_t *stream, uint32_t draw, uint32_t *turns) {
   if (*turns * dim->choice_count > MOST_TURNS)
      return dim->choices[rkb_random_below(stream, dim->choice_count)];
   const int64_t choice = dim->choices[draw / *turns % dim->choice_count];
   *turns *= dim->choice_count;
   return choice;
}

static rkb_bound_t *bind(const rkb_task_t *task, rkb_random_t *stream, uint32_t draw, bool largest) {
   const rkb_definition_t *definition = task->definition;
   int64_t dims[RKB_MAX_DIMS];
   double *attributes = rkb_allocate(definition->attribute_count + 1, sizeof *attributes);
   /* Kernels have special paths for cases whose sizes all suit wide accesses.  If each size were drawn alone,
    * such cases would be rare. */
   const bool whole = rkb_random_below(stream, 2) == 0;
   uint32_t turns = 1;
   for (uint32_t i = 0; i < definition->dim_count; i++) {
      const rkb_dim_t *dim = &definition->dims[i];
      dims[i] = dim->choice_count ? probe_choice(dim, stream, draw, &turns)
                : largest         ? dim->high - dim->high % dim->multiple_of
                                  : probe_dim(dim, stream, whole);
   }
   for (uint32_t i = 0; i < definition->attribute_count; i++) {
      const rkb_task_attribute_t *attribute = &definition->attributes[i];
      attributes[i] = attribute->choice_count
                         ? attribute->choices[rkb_random_below(stream, attribute->choice_count)]
                         : attribute->fallback;
   }
   rkb_problems_t problems; /* these dims contradict each other: draw again */
   rkb_problems_init(&problems);
   rkb_bound_t *bound = rkb_bound_begin(definition, task->backward, true, "probe", RKB_CASE_DRAWN, dims,
                                        attributes, NULL, task->budget, (rkb_place_t){0}, &problems);
   rkb_problems_free(&problems);
   free(attributes);
   return bound;
}

rkb_bound_t *rkb_task_draw_distinct_sizes(const rkb_task_t *task, rkb_random_t *stream, uint32_t draw) {
   return bind(task, stream, draw, false);
}

rkb_bound_t *rkb_task_draw_largest_distinct_sizes(const rkb_task_t *task, rkb_random_t *stream,
                                                  uint32_t draw) {
   return bind(task, stream, draw, true);
}
