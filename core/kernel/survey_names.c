/* The values of names at many shapes (survey_names.h). */
#include "kernel/survey_names.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/name_table.h"

#define FIRST_BITS 8u

/* Returns the name's number in the table of names; SURVEY_NAMES: there is no room for it.  A let may have the name of a dim; mentions before this let mean
 * the dim. */
static uint32_t number_of(survey_names_t *names, const char *text) {
   const planner_t *planner = names->planner;
   uint32_t n = 0, let = 0;
   while (let < planner->lets_known && !rkb_same_name(planner->manifest->lets[let].name, text))
      let++;
   const bool is_let = let < planner->lets_known;
   while (n < names->name_count &&
          (names->names[n].is_let != is_let || !rkb_same_name(names->names[n].name, text)))
      n++;
   if (n == names->name_count && n < SURVEY_NAMES)
      names->names[names->name_count++] = (survey_name_t){.name = text, .is_let = is_let, .let = let};
   return n;
}

/* Returns the place of a mention, or the free place where it would go. */
static survey_mention_t *place_of(const survey_names_t *names, const char *text) {
   const uint32_t last = (1u << names->mention_bits) - 1;
   uint32_t at = ((uint32_t)((uintptr_t)text >> 3) * 2654435761u) >> (32 - names->mention_bits);
   while (names->mentions[at].text && names->mentions[at].text != text)
      at = (at + 1) & last;
   return &names->mentions[at];
}

static void make_room(survey_names_t *names) {
   survey_mention_t *const before = names->mentions;
   const uint32_t count = 1u << names->mention_bits;
   names->mentions = rkb_allocate((size_t)count * 2, sizeof *names->mentions);
   names->mention_bits++;
   for (uint32_t i = 0; i < count; i++)
      if (before[i].text)
         *place_of(names, before[i].text) = before[i];
   free(before);
}

void survey_names_make(survey_names_t *names, const planner_t *planner) {
   *names = (survey_names_t){.planner = planner, .mention_bits = FIRST_BITS};
   names->mentions = rkb_allocate((size_t)1 << FIRST_BITS, sizeof *names->mentions);
}

void survey_names_clear(survey_names_t *names) {
   free(names->mentions);
   names->mentions = NULL;
}

/* Returns the name of a mention; NULL: there is no room for it. */
static survey_name_t *mentioned(survey_names_t *names, const char *text) {
   survey_mention_t *mention = place_of(names, text);
   if (!mention->text) {
      if (names->mention_count >= 1u << (names->mention_bits - 1)) {
         make_room(names);
         mention = place_of(names, text);
      }
      *mention = (survey_mention_t){text, number_of(names, text)};
      names->mention_count++;
   }
   return mention->name < SURVEY_NAMES ? &names->names[mention->name] : NULL;
}

static bool is_same(const rkb_value_t *a, const rkb_value_t *b) {
   return a->is_real == b->is_real && (a->is_real ? a->real == b->real : a->integer == b->integer);
}

/* Whether no let and no tune parameter has this name, so that its value can only be the task's. */
static bool is_of_task_alone(const planner_t *planner, const char *name) {
   const manifest_t *manifest = planner->manifest;
   for (uint32_t n = 0; n < manifest->let_count; n++)
      if (rkb_same_name(manifest->lets[n].name, name))
         return false;
   for (uint32_t n = 0; n < manifest->public.tune_count; n++)
      if (rkb_same_name(manifest->public.tune[n].name, name))
         return false;
   return true;
}

/* Finds the value as planner_name does, but without comparing the name with all lets and parameters at each shape. */
bool survey_names_find(const survey_names_t *names, const survey_name_t *known, rkb_value_t *value) {
   const planner_t *planner = names->planner;
   return known->is_tasks && planner->lookup(planner->argument, known->name, value)
             ? true
             : planner_name((void *)planner, known->name, value);
}

void survey_names_begin(survey_names_t *names) {
   names->shape++;
   for (uint32_t n = 0; n < names->name_count; n++) {
      survey_name_t *known = &names->names[n];
      rkb_value_t value = {0};
      if (known->is_let || known->is_constant || !known->changed)
         continue;
      const bool found = survey_names_find(names, known, &value);
      if (found == known->found && is_same(&value, &known->value))
         continue;
      known->found = found;
      known->value = value;
      known->changed = names->shape;
   }
}

bool survey_names_lookup(void *argument, const char *name, rkb_value_t *value) {
   survey_names_t *names = argument;
   survey_name_t *known = mentioned(names, name);
   if (!known) {
      names->mentioned |= SURVEY_OTHERS;
      return planner_name((void *)names->planner, name, value);
   }
   if (known->is_let) {
      names->mentioned |= names->let_names[known->let];
      *value = names->planner->lets[known->let];
      return true;
   }
   if (!known->changed) {
      rkb_value_t unused;
      known->found = planner_name((void *)names->planner, name, &known->value);
      known->is_constant = !names->planner->lookup(names->planner->argument, name, &unused);
      known->is_tasks = !known->is_constant && is_of_task_alone(names->planner, name);
      known->changed = names->shape;
   }
   if (!known->is_constant) {
      const uint32_t number = (uint32_t)(known - names->names);
      names->mentioned |= number < SURVEY_TOLD_APART ? UINT64_C(1) << number : SURVEY_OTHERS;
   }
   *value = known->value;
   return known->found;
}

const survey_name_t *survey_names_known(const survey_names_t *names, const char *text) {
   const survey_mention_t *mention = place_of(names, text);
   return mention->text && mention->name < SURVEY_NAMES ? &names->names[mention->name] : NULL;
}

bool survey_names_changed(const survey_names_t *names, uint64_t mentioned, uint64_t since) {
   for (uint64_t left = mentioned & ~SURVEY_OTHERS; left; left &= left - 1)
      if (names->names[__builtin_ctzll(left)].changed > since)
         return true;
   return mentioned & SURVEY_OTHERS;
}
