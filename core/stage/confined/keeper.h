/* The process that forks jobs' processes, and the one that starts it again (confined.h). */
#ifndef RKB_STAGE_CONFINED_KEEPER_H
#define RKB_STAGE_CONFINED_KEEPER_H

#include "stage/runtime.h"

/* In the keeper, right after its fork: never returns.  control: its end of the socket that jobs come over. */
_Noreturn void confined_keep(rkb_runtime_t *runtime, int control);

#endif
