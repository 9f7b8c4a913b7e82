/* Foresees that the blocks of a launch would take too many times the run's budget (foreseen_work.c).  On the machine's thread. */
#ifndef RKB_MACHINE_EXECUTE_FORESEEN_WORK_H
#define RKB_MACHINE_EXECUTE_FORESEEN_WORK_H

#include "machine/state/execution.h"

#define FORESEEN_DRAWN 3u

/* Of one launch.  Blocks are units that are executed at once: clusters, where there are some. */
typedef struct machine_foresight {
   uint64_t worked;                /* work of the run before the launch */
   uint64_t drawn[FORESEEN_DRAWN]; /* places in the order of all blocks, once they are drawn */
   uint64_t work[FORESEEN_DRAWN];  /* of these blocks */
   bool done;                      /* they were drawn */
} machine_foresight_t;

/* After the block at place n of the order: whether the drawn blocks are to be executed now, because the blocks so far took very much. */
bool machine_foresight_draw(const machine_run_t *run, machine_foresight_t *foresight, uint64_t executed, uint64_t n, uint64_t all);
/* Whether the block at this place was executed as a drawn one. */
static inline bool machine_foresight_has(const machine_foresight_t *foresight, uint64_t place) {
   bool has = false;
   for (uint32_t k = 0; foresight->done && k < FORESEEN_DRAWN; k++)
      has |= foresight->drawn[k] == place;
   return has;
}
/* When the drawn blocks were executed: ends the run if they show that all blocks would take too many times the budget. */
void machine_foresight_judge(machine_run_t *run, const machine_foresight_t *foresight, uint64_t executed, uint64_t all);
/* After the launch: whether the budget was used up, though the drawn blocks told that it suffices for all blocks. */
bool machine_foresight_failed(const machine_run_t *run, const machine_foresight_t *foresight, uint64_t all);

#endif
