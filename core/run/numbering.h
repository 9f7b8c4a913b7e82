/* Gives candidates their numbers, in the row's order, and begins their screening.  Loop thread. */
#ifndef RKB_RUN_NUMBERING_H
#define RKB_RUN_NUMBERING_H

#include <stdbool.h>

struct rkb_run;

/* Numbers the candidates of the next request, if it has them; true when it did something. */
bool rkb_numbering_next(struct rkb_run *run);

#endif
