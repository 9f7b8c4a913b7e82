/* Which words of a kernel's text are numbers of an input, and where they are put (planted_numbers.h). */
#include "task/planted_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"

#define SHARE 2u /* one element in so many */
#define USUAL                                                                                                \
   4u /* all but one of so many tensors get numbers of usual size alone: beside a large one, the others may say nothing */

/* Sizes that inputs may have: beyond them, what is computed from the number overflows or vanishes, and says nothing. */
#define MOST 0x1p20
#define LEAST 0x1p-20
#define MOST_POSITIVE 0x1p10
#define LEAST_POSITIVE 0x1p-10

struct rkb_planted {
   uint32_t tensors;
   struct numbers {
      uint32_t count, usual; /* those of usual size are first */
      double *of;
      double
         step; /* a number's neighbour lies so far from it, as a share of it; 0: integers, at a distance of 1 */
      double least, most; /* of integers */
   } tensor[];
};

static bool is_positive(const rkb_recipe_t *recipe) {
   return recipe->kind == RKB_INIT_POSITIVE || (recipe->kind == RKB_INIT_UNIFORM && recipe->first >= 0);
}

static bool admits(const rkb_recipe_t *recipe, double number) {
   const double size = fabs(number);
   if (recipe->kind == RKB_INIT_INTEGERS)
      return number >= recipe->first && number <= recipe->second - 1;
   if (recipe->kind == RKB_INIT_UNIFORM && recipe->first >= 0)
      return number >= recipe->first && number <= recipe->second;
   if (is_positive(recipe))
      return number >= LEAST_POSITIVE && number <= MOST_POSITIVE;
   return size >= LEAST && size <= MOST;
}

/* As large as numbers of the recipe are, or 1. */
static double usual_size(const rkb_recipe_t *recipe) {
   const double size = recipe->kind == RKB_INIT_NORMAL ? fabs(recipe->first) + 4 * fabs(recipe->second) : 1;
   return size > 1 ? size : 1;
}

static void add(struct numbers *numbers, const rkb_recipe_t *recipe, double largest, double number) {
   if (!(fabs(number) <= largest) || !admits(recipe, number))
      return;
   numbers->of[numbers->count++] = number;
   if (fabs(number) <= usual_size(recipe)) {
      numbers->of[numbers->count - 1] = numbers->of[numbers->usual];
      numbers->of[numbers->usual++] = number;
   }
}

/* A word as a float32; in a narrow type also its lower bits as a number of that type. */
static void add_word(struct numbers *numbers, const rkb_recipe_t *recipe, uint32_t dtype, uint32_t word) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   const double largest = narrow ? narrow->largest : HUGE_VAL;
   float number;
   if (recipe->kind == RKB_INIT_INTEGERS) {
      add(numbers, recipe, HUGE_VAL, (double)(int32_t)word);
      return;
   }
   memcpy(&number, &word, sizeof number);
   add(numbers, recipe, largest, (double)number);
   if (narrow && word >> 8 * rkb_dtype_bytes(dtype) == 0) {
      add(numbers, recipe, largest, rkb_dtype_load(dtype, &word, 0));
   }
}

static double step_of(uint32_t dtype) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   return narrow ? ldexp(1, 1 - narrow->bits) : 0x1p-23;
}

rkb_planted_t *rkb_planted_new(const rkb_bound_t *bound, const rkb_family_entry_t *family,
                               const uint32_t *words, uint32_t count) {
   const uint32_t tensors = bound->view.tensor_count;
   bool any = false;
   for (uint32_t i = 0; i < tensors; i++)
      any |= family->draws[i].kind == RKB_DRAW_PLANTED;
   if (!any || !count)
      return NULL;
   rkb_planted_t *planted = rkb_allocate(1, sizeof *planted + tensors * sizeof planted->tensor[0]);
   planted->tensors = tensors;
   for (uint32_t i = 0; i < tensors; i++) {
      struct numbers *numbers = &planted->tensor[i];
      const rkb_recipe_t *recipe = &bound->recipes[i];
      const uint32_t dtype = bound->view.tensors[i].dtype;
      if (family->draws[i].kind != RKB_DRAW_PLANTED)
         continue;
      numbers->of = rkb_allocate(2 * (size_t)count, sizeof *numbers->of);
      numbers->step = recipe->kind == RKB_INIT_INTEGERS ? 0 : step_of(dtype);
      numbers->least = recipe->first;
      numbers->most = recipe->second - 1;
      for (uint32_t n = 0; n < count; n++)
         add_word(numbers, recipe, dtype, words[n]);
   }
   return planted;
}

void rkb_planted_free(rkb_planted_t *planted) {
   for (uint32_t i = 0; planted && i < planted->tensors; i++)
      free(planted->tensor[i].of);
   free(planted);
}

/* The number itself for most of the eight choices, else the next one above or below. */
static double near(const struct numbers *numbers, double number, uint32_t choice) {
   if (choice < 6)
      return number;
   const double sign = choice == 6 ? 1 : -1;
   if (numbers->step > 0)
      return number * (1 + sign * numbers->step);
   const double next = number + sign;
   return next < numbers->least || next > numbers->most ? number : next;
}

void rkb_planted_put(const rkb_planted_t *planted, uint32_t tensor, uint64_t draw, uint64_t count,
                     const uint64_t *bits, double *numbers) {
   const struct numbers *own = planted ? &planted->tensor[tensor] : NULL;
   if (!own || !own->count)
      return;
   const uint32_t among = own->usual && draw % USUAL ? own->usual : own->count;
   for (uint64_t i = 0; i < count; i++)
      if (bits[i] % SHARE == 0)
         numbers[i] = near(own, own->of[(bits[i] >> 8 & UINT32_MAX) % among], (uint32_t)(bits[i] >> 60 & 7));
}
