/* Uniform crossover of tune assignments. */
#include "genes.h"
#include <string.h>

typedef struct gene {
   uint32_t parameter, choice; /* parameter and choice of the first parent's manifest */
} gene_t;

/* Finds the choice of the first manifest's parameter that equals the other parent's value; false when there
 * is none, or when the values are equal. */
static bool different(const rkb_manifest_t *first, const assignment_t *child, uint32_t parameter,
                      const rkb_manifest_t *second, const assignment_t *other, uint32_t *choice) {
   const rkb_tune_parameter_t *of = &first->tune[parameter];
   for (uint32_t i = 0; i < other->count; i++) {
      if (strcmp(second->tune[i].name, of->name) != 0)
         continue;
      const int64_t value = assignment_value(second, other, i);
      for (uint32_t c = 0; c < of->choice_count; c++)
         if (of->choices[c] == value) {
            *choice = c;
            return c != child->choice[parameter];
         }
   }
   return false;
}

bool genes_mix(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *first,
               assignment_t *child, const rkb_manifest_t *second, const assignment_t *other,
               bool same_source) {
   gene_t genes[ASSIGNMENT_MAX];
   bool taken[ASSIGNMENT_MAX];
   uint32_t count = 0, total = 0;
   for (uint32_t p = 0; p < child->count; p++)
      if (different(first, child, p, second, other, &genes[count].choice))
         genes[count++].parameter = p;
   /* If both parents have one text, taking the only difference would give the second parent again. */
   if (count == 0 || (same_source && count == 1))
      return false;
   for (uint32_t i = 0; i < count; i++) {
      taken[i] = random->below(stream, 2) == 1;
      total += taken[i];
   }
   if (total == 0)
      taken[random->below(stream, count)] = true;
   else if (total == count && same_source)
      taken[random->below(stream, count)] = false;
   for (uint32_t i = 0; i < count; i++)
      if (taken[i])
         child->choice[genes[i].parameter] = genes[i].choice;
   return true;
}
