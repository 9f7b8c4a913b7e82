/* Keeps and compares what launches decided (noted_decisions.h). */
#include "noted_decisions.h"

#include <stdlib.h>
#include <string.h>

static rkb_machine_decisions_t *of_launch(const struct noted_decisions *noted, uint64_t launch) {
   for (uint32_t n = 0; n < noted->count; n++)
      if (noted->of[n].launch == launch)
         return (rkb_machine_decisions_t *)&noted->of[n].decisions;
   return NULL;
}

static bool copy(rkb_machine_decisions_t *to, const rkb_machine_decisions_t *from) {
   *to = (rkb_machine_decisions_t){.outcomes = malloc(from->count + 1),
                                   .turns = malloc((from->count + 1) * sizeof *to->turns),
                                   .lines = malloc((from->count + 1) * sizeof *to->lines)};
   if (!to->outcomes || !to->turns || !to->lines)
      return false;
   to->count = from->count;
   memcpy(to->outcomes, from->outcomes, from->count);
   memcpy(to->turns, from->turns, from->count * sizeof *to->turns);
   memcpy(to->lines, from->lines, from->count * sizeof *to->lines);
   return true;
}

static bool add(struct noted_decisions *noted, uint64_t launch, const rkb_machine_decisions_t *from) {
   rkb_machine_decisions_t *to = of_launch(noted, launch);
   if (!to) {
      if (noted->count == MOST_NOTED)
         return false;
      noted->of[noted->count].launch = launch;
      return copy(&noted->of[noted->count++].decisions, from);
   }
   for (uint32_t n = 0; n < to->count && to->count == from->count; n++) {
      to->outcomes[n] |= from->outcomes[n];
      to->turns[n] = from->turns[n] > to->turns[n] ? from->turns[n] : to->turns[n];
   }
   return to->count == from->count; /* else it was not copied whole */
}

bool noted_take(struct noted_decisions *noted, const struct candidate *candidate,
                const rkb_machine_t *machine, const rkb_plan_t *plan) {
   bool all = true;
   for (uint32_t n = 0; n < plan->launch_count; n++) {
      const rkb_machine_decisions_t *decisions = rkb_machine_decisions(machine, n);
      if (decisions)
         all &= add(noted, shapes_launch_name(candidate, &plan->launches[n]), decisions);
   }
   return all;
}

bool noted_join(struct noted_decisions *noted, const struct noted_decisions *others) {
   bool all = true;
   for (uint32_t n = 0; n < others->count; n++)
      all &= add(noted, others->of[n].launch, &others->of[n].decisions);
   return all;
}

void noted_free(struct noted_decisions *noted) {
   for (uint32_t n = 0; n < noted->count; n++) {
      free(noted->of[n].decisions.outcomes);
      free(noted->of[n].decisions.turns);
      free(noted->of[n].decisions.lines);
   }
   noted->count = 0;
}

bool noted_lacks(const struct noted_decisions *known, const struct noted_decisions *large, uint64_t launch,
                 uint32_t turns, struct noted_lack *lack) {
   const rkb_machine_decisions_t *small = of_launch(known, launch), *asked = of_launch(large, launch);
   for (uint32_t n = 0; asked && n < asked->count; n++) {
      const uint32_t outcomes = small ? small->outcomes[n] : 0, had = small ? small->turns[n] : 0;
      const bool other = asked->outcomes[n] & ~outcomes & RKB_MACHINE_OUTCOMES,
                 more = had < turns && had < asked->turns[n];
      *lack = (struct noted_lack){!other, asked->lines[n], had, asked->turns[n]};
      if (other || more)
         return true;
   }
   return false;
}
