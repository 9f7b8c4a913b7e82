/* Surveys up to 64 shapes at once: one walk through each expression serves all of them (core/base/expression_many.h).
 *
 * What is told must be what rkb_manifest_survey_decide tells at one shape after the other.  An expression tells its decisions at a shape if a name that it
 * mentioned when it told them last has another value since.  So an expression is evaluated at all shapes first, which says what it mentions at each, and
 * then the shapes are gone through in their order to see at which it tells.  Nothing of the survey changes until the caller has taken what is told.  Where
 * anything is unusual - a fault, a real number, a name that was not mentioned before - the shapes are decided one by one.  One thread a survey. */
#include "kernel/survey_many.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define MOST_DECISIONS                                                                                       \
   2048u /* of one call; the memory of those that a manifest does not have is never touched */

survey_many_t *survey_many_new(survey_names_t *names, uint32_t let_count) {
   survey_many_t *many = rkb_allocate(1, sizeof *many);
   many->names = names;
   many->let_count = let_count;
   many->lets = rkb_allocate(let_count + 1, sizeof *many->lets);
   many->decisions.room = MOST_DECISIONS;
   many->decisions.list = rkb_grow(NULL, MOST_DECISIONS, sizeof *many->decisions.list);
   return many;
}

void survey_many_free(survey_many_t *many) {
   if (!many)
      return;
   free(many->decisions.list);
   free(many->evaluated);
   free(many->lets);
   free(many);
}

/* The number of the shape in the survey: shapes outside the domain have none. */
static uint64_t shape_number(const survey_many_t *many, uint32_t shape) {
   return many->names->shape + (uint64_t)__builtin_popcountll(many->inside & (UINT64_MAX >> (63 - shape)));
}

/* Takes the names' values at a shape; false where one has no value or is no integer. */
static bool take_names(survey_many_t *many, uint32_t shape, int64_t *before) {
   const survey_names_t *names = many->names;
   many->changed[shape] = 0;
   for (uint32_t n = 0; n < names->name_count; n++) {
      const survey_name_t *known = &names->names[n];
      rkb_value_t value = {0};
      if (known->is_let || known->is_constant)
         continue;
      if (!survey_names_find(names, known, &value) || value.is_real)
         return false;
      many->changed[shape] |= (uint64_t)(value.integer != before[n]) << n;
      before[n] = value.integer;
      many->values[n].at[shape] = (double)value.integer;
   }
   return true;
}

/* Names of buffers and tensor maps are in the table too. */
static bool is_no_number(const survey_name_t *name) {
   return name->is_constant && (!name->found || name->value.is_real);
}

bool survey_many_begin(survey_many_t *many, uint32_t count, bool (*set)(void *argument, uint32_t shape),
                       void *argument) {
   const survey_names_t *names = many->names;
   int64_t before[SURVEY_NAMES];
   many->turn++;
   many->inside = 0;
   many->evaluated_count = many->decisions.count = 0;
   for (uint32_t n = 0; n < names->name_count; n++) {
      const survey_name_t *known = &names->names[n];
      if (known->is_let || is_no_number(known))
         continue;
      if (!known->changed || (n >= SURVEY_TOLD_APART && !known->is_constant))
         return false;
      before[n] = known->value.integer;
      for (uint32_t shape = 0; shape < RKB_MANY; shape++)
         many->values[n].at[shape] = (double)known->value.integer;
   }
   for (uint32_t shape = 0; shape < count; shape++) {
      if (!set(argument, shape))
         continue;
      many->inside |= UINT64_C(1) << shape;
      if (!take_names(many, shape, before))
         return false;
   }
   return true;
}

/* Evaluations --------------------------------------------------------------------------------------------------------------- */

static void mention(uint64_t *mentioned, uint64_t shapes, const uint64_t *names, uint64_t name) {
   const bool all = shapes == UINT64_MAX;
   for (uint32_t n = 0; n < RKB_MANY; n++)
      mentioned[n] |= (all || shapes >> n & 1 ? UINT64_MAX : 0) & (names ? names[n] : name);
}

static bool find(void *argument, const char *name, uint64_t shapes, rkb_many_t *values) {
   survey_many_t *many = argument;
   const survey_name_t *known = survey_names_known(many->names, name);
   if (!known || (!known->is_let && is_no_number(known)))
      return false;
   if (known->is_let) {
      *values = many->lets[known->let].values;
      mention(many->mentioned, shapes, many->lets[known->let].mentioned, 0);
      return true;
   }
   const uint32_t number = (uint32_t)(known - many->names->names);
   *values = many->values[number];
   if (!known->is_constant)
      mention(many->mentioned, shapes, NULL, UINT64_C(1) << number);
   return true;
}

/* Returns bits of the names that have changed since a shape. */
static uint64_t changed_since(const survey_names_t *names, uint64_t since) {
   uint64_t changed = 0;
   for (uint32_t n = 0; n < names->name_count; n++)
      changed |= n < SURVEY_TOLD_APART && names->names[n].changed > since ? UINT64_C(1) << n : 0;
   return changed;
}

static bool is_as_before(const survey_many_t *many, const surveyed_t *known) {
   uint64_t changed = changed_since(many->names, known->shape);
   for (uint64_t left = many->inside; left; left &= left - 1)
      changed |= many->changed[__builtin_ctzll(left)];
   return !(changed & known->mentioned);
}

static void repeat(const surveyed_t *known, survey_many_value_t *value) {
   for (uint32_t n = 0; n < RKB_MANY; n++) {
      value->values.at[n] = (double)known->value.integer;
      value->mentioned[n] = known->mentioned;
   }
}

/* Returns the shapes at which the expression would be evaluated if the shapes came one after the other.  *last: the last of them. */
static uint64_t evaluated_shapes(const survey_many_t *many, const surveyed_t *known, uint64_t shapes,
                                 const uint64_t *mentioned, uint32_t *last) {
   uint64_t evaluated = 0, names = known->mentioned, changed = changed_since(many->names, known->shape);
   for (uint64_t left = many->inside; left; left &= left - 1) {
      const uint32_t shape = (uint32_t)__builtin_ctzll(left);
      changed |= many->changed[shape];
      if (!(shapes >> shape & 1) || !(changed & names))
         continue;
      evaluated |= UINT64_C(1) << shape;
      names = mentioned[shape];
      changed = 0;
      *last = shape;
   }
   return evaluated;
}

static void keep(survey_many_t *many, surveyed_t *known, const survey_many_value_t *value, uint32_t last) {
   if (many->evaluated_count == many->evaluated_room) {
      many->evaluated_room = many->evaluated_room ? 2 * many->evaluated_room : 64;
      many->evaluated = rkb_grow(many->evaluated, many->evaluated_room, sizeof *many->evaluated);
   }
   surveyed_t after = *known;
   after.shape = shape_number(many, last);
   after.mentioned = value->mentioned[last];
   after.value = (rkb_value_t){.integer = (int64_t)value->values.at[last]};
   many->evaluated[many->evaluated_count++] = (survey_evaluated_t){known, after};
}

bool survey_many_decide(survey_many_t *many, surveyed_t *known, uint64_t shapes, survey_many_value_t *value) {
   survey_many_value_t own;
   survey_many_value_t *out = value ? value : &own;
   const uint32_t first = many->decisions.count;
   uint32_t last = 0;
   if (!shapes || (known->turn == many->turn && !value))
      return true;
   if (!known->expression || !known->shape || !known->is_decided || known->value.is_real ||
       known->mentioned & SURVEY_OTHERS)
      return false;
   known->turn = many->turn;
   if (is_as_before(many, known)) {
      if (value)
         repeat(known, value);
      return true;
   }
   memset(out->mentioned, 0, sizeof out->mentioned);
   many->mentioned = out->mentioned;
   if (!rkb_expression_many(known->expression, shapes, find, many, &many->decisions, &out->values))
      return false;
   const uint64_t evaluated = evaluated_shapes(many, known, shapes, out->mentioned, &last);
   for (uint32_t n = first; n < many->decisions.count; n++) {
      many->decisions.list[n].places &= evaluated;
      many->decisions.list[n].outcomes &= evaluated;
   }
   if (evaluated)
      keep(many, known, out, last);
   return true;
}

void survey_many_take(survey_many_t *many) {
   survey_names_t *names = many->names;
   if (!many->inside)
      return;
   const uint32_t end = 63 - (uint32_t)__builtin_clzll(many->inside);
   for (uint64_t left = many->inside; left; left &= left - 1) {
      const uint32_t shape = (uint32_t)__builtin_ctzll(left);
      for (uint64_t changed = many->changed[shape]; changed; changed &= changed - 1)
         names->names[__builtin_ctzll(changed)].changed = shape_number(many, shape);
   }
   for (uint32_t n = 0; n < names->name_count; n++)
      if (!names->names[n].is_let && !names->names[n].is_constant)
         names->names[n].value = (rkb_value_t){.integer = (int64_t)many->values[n].at[end]};
   for (uint32_t n = 0; n < many->evaluated_count; n++)
      *many->evaluated[n].expression = many->evaluated[n].after;
   for (uint32_t n = 0; n < many->let_count; n++)
      names->let_names[n] = many->lets[n].mentioned[end];
   names->shape = shape_number(many, end);
}
