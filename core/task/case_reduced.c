/* Smaller shapes that resemble a listed one: the same attributes, choices and recipes, and dims of the same
 * residues, as far as the size allows.  If the results of a kernel of several launches cannot be followed
 * back at the listed shape, the whole kernel is executed at such a shape.  Pure except for the random stream;
 * any thread. */
#include "task/task_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define MOST_ELEMENTS 1e6  /* elements of all tensors together, because each element of an output is judged */
#define LARGEST_MODULUS 32 /* residues modulo this and its divisors are kept first: tails of vectors, warps and tiles */

/* The recipes of the listed case; NULL when it uses the tensors' own recipes. */
static const rkb_init_setting_t *setting_of(const rkb_task_t *task, const rkb_case_t *listed) {
   const rkb_definition_t *definition = task->definition;
   const char *slash = strchr(listed->name, '/');
   const rkb_init_setting_t *setting = NULL;
   for (uint32_t n = 0; slash && n < definition->case_count; n++)
      if (definition->cases[n].kind == listed->kind && strcmp(definition->cases[n].name, slash + 1) == 0)
         setting = definition->cases[n].setting;
   return setting;
}

/* The smallest size that is at least half of the dim's size and has its residue; the dim's own size when
 * there is none. */
static int64_t halved(const rkb_dim_t *dim, int64_t size, int64_t modulus) {
   int64_t least = (size + 1) / 2;
   if (dim->choice_count)
      return size;
   least = least > dim->low ? least : dim->low;
   for (int64_t to = least; to < size; to++)
      if (to % modulus == size % modulus && to % dim->multiple_of == 0)
         return to;
   return size;
}

/* Halves the largest dim that can be halved.  The dim that should stay long is halved only if no other is left.  False when none
 * can be halved. */
static bool reduce(const rkb_definition_t *definition, uint32_t longest, int64_t modulus, int64_t *dims) {
   uint32_t at = UINT32_MAX;
   for (uint32_t d = 0; d < definition->dim_count; d++)
      if (d != longest && halved(&definition->dims[d], dims[d], modulus) < dims[d] && (at == UINT32_MAX || dims[d] > dims[at]))
         at = d;
   if (at != UINT32_MAX)
      dims[at] = halved(&definition->dims[at], dims[at], modulus);
   return at != UINT32_MAX;
}

static rkb_bound_t *bind(const rkb_task_t *task, const rkb_case_t *listed, const char *name, const int64_t *dims,
                         const double *attributes) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_bound_t *bound =
      rkb_bound_begin(task->definition, task->backward, false, name, RKB_CASE_DRAWN, dims, attributes,
                      setting_of(task, listed), task->budget, (rkb_place_t){0}, &problems);
   rkb_problems_free(&problems); /* these dims contradict each other: reduce further */
   return bound;
}

static double elements_of(const rkb_case_t *the_case) {
   double elements = 0;
   for (uint32_t n = 0; n < the_case->tensor_count; n++)
      elements += (double)the_case->tensors[n].elements;
   return elements;
}

int rkb_task_case_reduced(const rkb_task_t *task, const rkb_case_t *listed, rkb_random_t *stream, double work,
                          uint32_t longest, rkb_case_t **drawn, rkb_error_t *err) {
   const rkb_definition_t *definition = task->definition;
   int64_t dims[RKB_MAX_DIMS], modulus = LARGEST_MODULUS;
   double *attributes = rkb_allocate(listed->attribute_count + 1, sizeof *attributes);
   char name[32];
   snprintf(name, sizeof name, "reduced/%08llx", (unsigned long long)(rkb_random_next(stream) >> 32));
   for (uint32_t d = 0; d < definition->dim_count; d++)
      dims[d] = listed->dims[d].value;
   for (uint32_t n = 0; n < listed->attribute_count; n++)
      attributes[n] = listed->attributes[n].value;
   *drawn = NULL;
   while (!*drawn) {
      rkb_bound_t *bound = bind(task, listed, name, dims, attributes);
      if (bound && elements_of(&bound->view) <= MOST_ELEMENTS && rkb_program_operations(bound->program) <= work &&
          rkb_evaluate_peak(bound->program) <= task->budget && rkb_bound_complete(bound)) {
         *drawn = &bound->view;
         break;
      }
      rkb_bound_free(bound);
      while (modulus && !reduce(definition, longest, modulus, dims))
         modulus /= 2;
      if (!modulus && longest < definition->dim_count) { /* the others are as small as they can be */
         longest = UINT32_MAX;
         modulus = LARGEST_MODULUS;
      } else if (!modulus) {
         break;
      }
   }
   free(attributes);
   return *drawn ? RKB_OK
                 : rkb_fail(err, RKB_ERR_LIMIT, "no shape of at most %.3g operations resembles case %s", work, listed->name);
}
