/* ^C, SIGTERM and rkb_interrupt: they end a run cleanly.  Loop thread. */
#ifndef RKB_RUN_INTERRUPTS_H
#define RKB_RUN_INTERRUPTS_H

#include <rkb/plugin.h>

struct rkb_run;
typedef struct rkb_interrupts rkb_interrupts_t;

/* Begins to listen, as the run's options say. */
int rkb_interrupts_open(struct rkb_run *run, rkb_interrupts_t **interrupts, rkb_error_t *err);
/* Stops listening.  NULL is accepted, as for free. */
void rkb_interrupts_close(rkb_interrupts_t *interrupts);
/* Only after the loop was freed: it holds pointers into this memory until then. */
void rkb_interrupts_free(rkb_interrupts_t *interrupts);

#endif
