/* Decisions of launches in some runs, by the launches' names.  The runs are those of blocks that were sampled at a bench shape, and of
 * shapes that were executed whole and judged.  One worker thread a candidate. */
#ifndef MACHINE_NOTED_DECISIONS_H
#define MACHINE_NOTED_DECISIONS_H

#include "machine/state/decisions.h"
#include "verifier.h"

#define MOST_NOTED 64u /* launches */

struct noted_decisions {
   struct {
      uint64_t launch; /* shapes_launch_name */
      rkb_machine_decisions_t decisions;
   } of[MOST_NOTED];
   uint32_t count;
   bool failed; /* not all of a case could be kept */
};

/* Adds what the launches of the machine's runs decided; false: not all of it could be kept. */
bool noted_take(struct noted_decisions *noted, const struct candidate *candidate,
                const rkb_machine_t *machine, const rkb_plan_t *plan);
/* Adds what others decided; false as above. */
bool noted_join(struct noted_decisions *noted, const struct noted_decisions *others);
void noted_free(struct noted_decisions *noted);

/* What a launch decided in one list and in no run of the other. */
struct noted_lack {
   bool turns;         /* of a loop; else the outcome of an instruction */
   uint32_t line;      /* of the source */
   uint32_t had, most; /* turns here and there */
};
/* Whether the launch decided something in large that it did not decide in known.  Of a loop, so many turns in known are enough. */
bool noted_lacks(const struct noted_decisions *known, const struct noted_decisions *large, uint64_t launch,
                 uint32_t turns, struct noted_lack *lack);

#endif
