/* Decisions of the executed blocks of a launch: which outcomes their conditions had, and how many turns their loops took.  A machine notes
 * decisions if its options ask for them.  With them, two launches of one kernel can be compared: what does a large launch do that no smaller
 * launch did?  The machine's thread. */
#ifndef RKB_MACHINE_STATE_DECISIONS_H
#define RKB_MACHINE_STATE_DECISIONS_H

#include "machine/machine.h"

struct machine_block;
struct machine_launch;
struct machine_run;
struct machine_warp;

/* The outcomes of an instruction's value in some lane. */
#define RKB_MACHINE_TRUE 1u  /* or another number than 0 */
#define RKB_MACHINE_FALSE 2u /* or 0 */
#define RKB_MACHINE_OUTCOMES (RKB_MACHINE_TRUE | RKB_MACHINE_FALSE)

/* The decisions of one kernel, by instruction.  Instructions have the same numbers in every machine on the
 * kernel's module. */
typedef struct rkb_machine_decisions {
   uint8_t *outcomes; /* RKB_MACHINE_TRUE, RKB_MACHINE_FALSE; other bits mean nothing here */
   uint32_t *
      /* For the first instruction of a basic block: the most times that a warp came back to the block after it had come from outside. */
      turns;
   uint32_t *lines; /* lines of the source, or of the PTX */
   uint32_t count;
} rkb_machine_decisions_t;

/* The decisions of a launch in the machine's runs; NULL: nothing was noted.  Valid until the machine is
 * closed. */
const rkb_machine_decisions_t *rkb_machine_decisions(const rkb_machine_t *machine, uint32_t launch);

/* decision_notes.c, for the machine's own use */
struct machine_decisions;
/* Called at the beginning of a launch; stops the run when memory runs out. */
void machine_decisions_begin(struct machine_launch *launch);
void machine_decisions_free(struct machine_run *run);
/* Called when a warp comes to a basic block from another one. */
void machine_decisions_enter(const struct machine_warp *warp, uint32_t block, uint32_t from);
/* Called when lanes have executed an instruction. */
void machine_decisions_note(const struct machine_warp *warp, uint32_t instruction, uint32_t mask);

#endif
