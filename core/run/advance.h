/* The pump of a run: looks at what stages and operators have reported and does what follows from it.  Loop thread. */
#ifndef RKB_RUN_ADVANCE_H
#define RKB_RUN_ADVANCE_H

struct rkb_run;

/* Sets the hooks by which operators and the screen report. */
void rkb_run_advance_hooks(struct rkb_run *run);
/* Does everything that can be done now, and stops the loop when nothing is left to wait for.  Callbacks record what
 * happened and then call this. */
void rkb_run_advance(struct rkb_run *run);

#endif
