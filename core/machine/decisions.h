/* What the executed blocks of a launch decided: which ways their conditions came out, and how many turns their loops took.  A machine notes it if its
 * options ask.  Of two launches of one kernel the notes can be compared: what a large launch does and no smaller one did.  The machine's thread. */
#ifndef RKB_MACHINE_DECISIONS_H
#define RKB_MACHINE_DECISIONS_H

#include "machine/machine.h"

struct machine_block;
struct machine_launch;
struct machine_run;
struct machine_warp;

/* How an instruction's value came out in some lane. */
#define RKB_MACHINE_TRUE 1u  /* or another number than 0 */
#define RKB_MACHINE_FALSE 2u /* or 0 */
#define RKB_MACHINE_OUTCOMES (RKB_MACHINE_TRUE | RKB_MACHINE_FALSE)

/* Of one kernel, by instruction.  Their numbers are the kernel's, the same in every machine on its module. */
typedef struct rkb_machine_decisions {
   uint8_t *outcomes; /* RKB_MACHINE_TRUE, RKB_MACHINE_FALSE; other bits mean nothing here */
   uint32_t *
      turns; /* of the first of a basic block: how often a warp came back to it at most, from when it came from outside */
   uint32_t *lines; /* of the source, or of the PTX */
   uint32_t count;
} rkb_machine_decisions_t;

/* Of a launch of the machine's runs; NULL: nothing was noted.  Until the machine is closed. */
const rkb_machine_decisions_t *rkb_machine_decisions(const rkb_machine_t *machine, uint32_t launch);

/* decision_notes.c, for the machine itself */
struct machine_decisions;
/* At the beginning of a launch; without memory it stops the run. */
void machine_decisions_begin(struct machine_launch *launch);
void machine_decisions_free(struct machine_run *run);
/* A warp comes to a basic block, from another one. */
void machine_decisions_enter(const struct machine_warp *warp, uint32_t block, uint32_t from);
/* Lanes executed an instruction. */
void machine_decisions_note(const struct machine_warp *warp, uint32_t instruction, uint32_t mask);

#endif
