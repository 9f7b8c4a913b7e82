/* Draws small cases from the dims' domains, with equal dims where asked, and lists the cases at the domains' corners.  Pure except for the
 * random stream; any thread. */
#include "task/task_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define ATTEMPTS 200
#define SMALL_DIM 512
#define LONG_DIM 65536
#define BESIDE_LONG 16 /* first limit for the other dims of a shape with a long dim */

static int64_t fit(const rkb_dim_t *dim, int64_t value) {
   if (dim->choice_count)
      return value;
   value = value < dim->low ? dim->low : value;
   value -= value % dim->multiple_of;
   if (value < dim->low) /* round up to the next multiple */
      value += dim->multiple_of;
   return value <= dim->high ? value : dim->low;
}

/* Draws a size whose power of two is as likely as any other, and whose residue modulo 2 to 32 is often 0 or next to it: tails
 * of vectors and tiles. */
static int64_t draw_by_octave(int64_t low, int64_t high, rkb_random_t *stream) {
   const int first = 63 - __builtin_clzll((unsigned long long)(low > 0 ? low : 1)),
             last = 63 - __builtin_clzll((unsigned long long)high);
   const int octave = first + (int)rkb_random_below(stream, (uint64_t)(last - first) + 1);
   int64_t value = (INT64_C(1) << octave) + (int64_t)rkb_random_below(stream, UINT64_C(1) << octave);
   const int64_t modulus = INT64_C(2) << rkb_random_below(stream, 5);
   static const int64_t beside[] = {0, 0, 1, -1};
   if (rkb_random_below(stream, 2) && value > modulus)
      value += beside[rkb_random_below(stream, 4)] - value % modulus;
   return value < low ? low : value > high ? high : value;
}

/* Draws sizes that tend to expose mistakes: small, prime, or near the sizes of warps, tiles and blocks. */
static int64_t draw_dim(const rkb_dim_t *dim, rkb_random_t *stream, int64_t most) {
   static const int64_t telling[] = {1,  2,  3,  5,  7,   11,  13,  17,  31,  32,  33,
                                     37, 61, 64, 67, 127, 128, 129, 131, 255, 256, 257};
   if (dim->choice_count)
      return dim->choices[rkb_random_below(stream, dim->choice_count)];
   int64_t high = dim->high < most ? dim->high : most, value;
   if (high < dim->low)
      high = dim->low;
   if (rkb_random_below(stream, 3) == 0)
      value = telling[rkb_random_below(stream, sizeof telling / sizeof telling[0])];
   else
      value = draw_by_octave(dim->low, high, stream);
   return fit(dim, value > high ? high : value);
}

/* Draws a long dim.  1,000 to 2,000 is as likely as 10,000 to 20,000.  Such sizes reach block counts and loop counts that small dims
 * never reach. */
static int64_t draw_long(const rkb_dim_t *dim, rkb_random_t *stream) {
   if (dim->choice_count)
      return dim->choices[rkb_random_below(stream, dim->choice_count)];
   int64_t value = dim->high < LONG_DIM ? dim->high : LONG_DIM;
   int octaves = 0;
   while (SMALL_DIM << octaves < value)
      octaves++;
   value >>= rkb_random_below(stream, (uint64_t)octaves + 1);
   return value - (int64_t)rkb_random_below(stream, (uint64_t)value / 2 + 1);
}

/* Half of the shapes have one long dim. */
static uint32_t choose_long(const rkb_definition_t *definition, rkb_random_t *stream) {
   return rkb_random_below(stream, 2) && definition->dim_count
             ? (uint32_t)rkb_random_below(stream, definition->dim_count)
             : UINT32_MAX;
}

static void draw_attributes(const rkb_definition_t *definition, rkb_random_t *stream, double *attributes) {
   for (uint32_t i = 0; i < definition->attribute_count; i++) {
      const rkb_task_attribute_t *attribute = &definition->attributes[i];
      attributes[i] = attribute->choice_count
                         ? attribute->choices[rkb_random_below(stream, attribute->choice_count)]
                         : attribute->fallback;
   }
}

/* The case with these dims; NULL when they contradict each other or exceed the limit of work or memory. */
static rkb_case_t *complete(const rkb_task_t *task, rkb_random_t *stream, const int64_t *dims,
                            const double *attributes, double work) {
   char name[32];
   snprintf(name, sizeof name, "drawn/%08llx", (unsigned long long)(rkb_random_next(stream) >> 32));
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_bound_t *bound = rkb_bound_begin(task->definition, task->backward, false, name, RKB_CASE_DRAWN, dims,
                                        attributes, NULL, task->budget, (rkb_place_t){0}, &problems);
   rkb_problems_free(&problems);
   const bool whole = work < INFINITY; /* it is to be evaluated whole */
   if (bound && ((whole && (rkb_program_operations(bound->program) > work ||
                            rkb_evaluate_peak(bound->program) > task->budget)) ||
                 !rkb_bound_complete(bound))) {
      rkb_bound_free(bound);
      bound = NULL;
   }
   return bound ? &bound->view : NULL;
}

int rkb_task_case_draw(const rkb_task_t *task, rkb_random_t *stream, double work, rkb_case_t **drawn,
                       rkb_error_t *err) {
   const rkb_definition_t *definition = task->definition;
   int64_t dims[RKB_MAX_DIMS];
   double *attributes = rkb_allocate(definition->attribute_count + 1, sizeof *attributes);
   *drawn = NULL;
   const uint32_t long_dim = choose_long(definition, stream);
   int64_t most = long_dim == UINT32_MAX ? SMALL_DIM : BESIDE_LONG,
           length = long_dim == UINT32_MAX ? 0 : draw_long(&definition->dims[long_dim], stream);
   for (int attempt = 0; attempt < ATTEMPTS && !*drawn; attempt++) {
      if (attempt && attempt % 8 == 0) { /* the shapes were too much work: draw smaller, the long dim last */
         if (long_dim != UINT32_MAX && most == 1)
            length = length > 2 ? length / 2 : length;
         else if (long_dim != UINT32_MAX)
            most /= 4;
         else
            most = most > 2 ? most / 2 : most;
      }
      for (uint32_t i = 0; i < definition->dim_count; i++)
         dims[i] =
            i == long_dim ? fit(&definition->dims[i], length) : draw_dim(&definition->dims[i], stream, most);
      draw_attributes(definition, stream, attributes);
      *drawn = complete(task, stream, dims, attributes, work);
   }
   free(attributes);
   return *drawn ? RKB_OK
                 : rkb_fail(err, RKB_ERR_LIMIT, "no case of at most %.3g operations was found in %d draws",
                            work, ATTEMPTS);
}

static int64_t nearest(const rkb_dim_t *dim, int64_t value) {
   if (!dim->choice_count)
      return fit(dim, value);
   int64_t best = dim->choices[0];
   for (uint32_t i = 1; i < dim->choice_count; i++)
      if (llabs(dim->choices[i] - value) < llabs(best - value))
         best = dim->choices[i];
   return best;
}

int rkb_task_case_with_dim(const rkb_task_t *task, const rkb_case_t *like, rkb_random_t *stream, uint32_t dim,
                           int64_t value, double work, rkb_case_t **made, rkb_error_t *err) {
   const rkb_definition_t *definition = task->definition;
   int64_t dims[RKB_MAX_DIMS];
   double *attributes = rkb_allocate(like->attribute_count + 1, sizeof *attributes);
   for (uint32_t d = 0; d < definition->dim_count; d++)
      dims[d] = d == dim ? nearest(&definition->dims[d], value) : like->dims[d].value;
   for (uint32_t n = 0; n < like->attribute_count; n++)
      attributes[n] = like->attributes[n].value;
   *made = complete(task, stream, dims, attributes, work);
   free(attributes);
   return *made ? RKB_OK
                : rkb_fail(err, RKB_ERR_LIMIT, "no shape of at most %.3g operations has this dim", work);
}

int rkb_task_case_with_dims(const rkb_task_t *task, const rkb_case_t *like, rkb_random_t *stream,
                            const int64_t *dims, double work, rkb_case_t **made, rkb_error_t *err) {
   const rkb_definition_t *definition = task->definition;
   double *attributes = rkb_allocate(like->attribute_count + 1, sizeof *attributes);
   bool inside = true;
   for (uint32_t d = 0; d < definition->dim_count; d++)
      inside &= nearest(&definition->dims[d], dims[d]) == dims[d];
   for (uint32_t n = 0; n < like->attribute_count; n++)
      attributes[n] = like->attributes[n].value;
   *made = inside ? complete(task, stream, dims, attributes, work) : NULL;
   free(attributes);
   return *made ? RKB_OK
                : rkb_fail(err, RKB_ERR_LIMIT, "no shape of at most %.3g operations has these dims", work);
}

/* Equal dims -------------------------------------------------------------------------------------------------------- */

/* dims of few small values, such as strides, do not set the common value of the first tries */
#define LARGEST_MODE 8

static bool admits(const rkb_dim_t *dim, int64_t value) {
   for (uint32_t i = 0; i < dim->choice_count; i++)
      if (dim->choices[i] == value)
         return true;
   return !dim->choice_count && value >= dim->low && value <= dim->high && value % dim->multiple_of == 0;
}

/* Chooses one dim at random and gives its value to another dim chosen at random, or to all dims that admit
 * the value.  Returns how many dims are equal then. */
static uint32_t make_equal(const rkb_definition_t *definition, rkb_random_t *stream, bool all, int64_t least,
                           int64_t *dims) {
   const uint32_t count = definition->dim_count, first = (uint32_t)rkb_random_below(stream, count),
                  other = (first + 1 + (uint32_t)rkb_random_below(stream, count - 1)) % count;
   const int64_t value = dims[first];
   uint32_t alike = 1;
   for (uint32_t i = 0; i < count && value >= least; i++)
      if (i != first && (all || i == other) && admits(&definition->dims[i], value)) {
         dims[i] = value;
         alike++;
      }
   return alike;
}

int rkb_task_case_draw_equal(const rkb_task_t *task, rkb_random_t *stream, double work, bool all,
                             rkb_case_t **drawn, rkb_error_t *err) {
   const rkb_definition_t *definition = task->definition;
   int64_t dims[RKB_MAX_DIMS];
   *drawn = NULL;
   if (definition->dim_count < 2)
      return rkb_fail(err, RKB_ERR_LIMIT, "task %s has no two dims", definition->name);
   double *attributes = rkb_allocate(definition->attribute_count + 1, sizeof *attributes);
   int64_t most = SMALL_DIM;
   for (int attempt = 0; attempt < ATTEMPTS && !*drawn; attempt++) {
      if (attempt && attempt % 8 == 0)
         most = most > 2 ? most / 2 : most;
      for (uint32_t i = 0; i < definition->dim_count; i++)
         dims[i] = draw_dim(&definition->dims[i], stream, most);
      const int64_t least = attempt < ATTEMPTS / 2 ? LARGEST_MODE + 1 : 1;
      if (make_equal(definition, stream, all, least, dims) < 2)
         continue;
      draw_attributes(definition, stream, attributes);
      *drawn = complete(task, stream, dims, attributes, work);
   }
   free(attributes);
   return *drawn ? RKB_OK
                 : rkb_fail(err, RKB_ERR_LIMIT,
                            "no case of at most %.3g operations with equal dims was found in %d draws", work,
                            ATTEMPTS);
}

/* Corners ---------------------------------------------------------------------------------------------------------- */

#define CORNER_DIMS                                                                                          \
   3 /* at most this many dims are at their maximum: a grid axis is rarely the product of more */
#define CORNERED_DIMS 12u /* dims considered; others stay at their minimum */

static int64_t least_of(const rkb_dim_t *dim) {
   int64_t least = dim->choice_count ? dim->choices[0] : fit(dim, dim->low);
   for (uint32_t i = 0; i < dim->choice_count; i++)
      least = dim->choices[i] < least ? dim->choices[i] : least;
   return least;
}

static int64_t most_of(const rkb_dim_t *dim) {
   int64_t most = dim->choice_count ? dim->choices[0] : fit(dim, dim->high);
   for (uint32_t i = 0; i < dim->choice_count; i++)
      most = dim->choices[i] > most ? dim->choices[i] : most;
   return most;
}

int rkb_task_case_corner(const rkb_task_t *task, uint32_t index, rkb_case_t **corner, rkb_error_t *err) {
   const rkb_definition_t *definition = task->definition;
   const uint32_t cornered = definition->dim_count < CORNERED_DIMS ? definition->dim_count : CORNERED_DIMS;
   uint32_t most = 0; /* bit d: dim d is at its maximum */
   *corner = NULL;
   for (uint32_t seen = 0; seen <= index && most < 1u << cornered;)
      seen += __builtin_popcount(++most) <= CORNER_DIMS;
   if (most >= 1u << cornered)
      return rkb_fail(err, RKB_ERR_LIMIT, "the domain has no corner number %u", index);
   int64_t dims[RKB_MAX_DIMS];
   for (uint32_t i = 0; i < definition->dim_count; i++)
      dims[i] = (i < cornered && (most >> i & 1) ? most_of : least_of)(&definition->dims[i]);
   double *attributes = rkb_allocate(definition->attribute_count + 1, sizeof *attributes);
   for (uint32_t i = 0; i < definition->attribute_count; i++)
      attributes[i] = definition->attributes[i].fallback;
   char name[32];
   snprintf(name, sizeof name, "corner/%u", index);
   rkb_problems_t problems; /* these dims contradict each other: no corner */
   rkb_problems_init(&problems);
   rkb_bound_t *bound = rkb_bound_new(definition, task->backward, name, RKB_CASE_DRAWN, dims, attributes,
                                      NULL, task->budget, (rkb_place_t){0}, &problems);
   rkb_problems_free(&problems);
   free(attributes);
   if (bound)
      *corner = &bound->view;
   return RKB_OK;
}

int rkb_task_case_with_init(const rkb_task_t *task, const rkb_case_t *the_case, const char *setting,
                            rkb_case_t **drawn, rkb_error_t *err) {
   const rkb_definition_t *definition = task->definition;
   const rkb_init_setting_t *found = NULL;
   int64_t dims[RKB_MAX_DIMS];
   double *attributes = rkb_allocate(definition->attribute_count + 1, sizeof *attributes);
   *drawn = NULL;
   for (uint32_t i = 0; setting && i < definition->setting_count; i++)
      if (strcmp(definition->settings[i].name, setting) == 0)
         found = &definition->settings[i];
   for (uint32_t i = 0; i < the_case->dim_count; i++)
      dims[i] = the_case->dims[i].value;
   for (uint32_t i = 0; i < the_case->attribute_count; i++)
      attributes[i] = the_case->attributes[i].value;
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   int status = RKB_ERR_INVALID;
   if (setting && !found) {
      rkb_fail(err, status, "task %s has no init setting %s", definition->name, setting);
   } else {
      rkb_bound_t *bound = rkb_bound_new(definition, task->backward, the_case->name, the_case->kind, dims,
                                         attributes, found, task->budget, (rkb_place_t){0}, &problems);
      status = bound ? RKB_OK : rkb_problems_error(&problems, err);
      if (bound)
         *drawn = &bound->view;
   }
   rkb_problems_free(&problems);
   free(attributes);
   return status;
}

void rkb_task_case_free(rkb_case_t *drawn) {
   if (drawn)
      rkb_bound_free((rkb_bound_t *)(uintptr_t)rkb_bound_of(drawn));
}
