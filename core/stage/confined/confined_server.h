/* The keeper forks the server and starts it again; the server forks jobs' processes (confined.h). */
#ifndef RKB_STAGE_CONFINED_CONFINED_SERVER_H
#define RKB_STAGE_CONFINED_CONFINED_SERVER_H

#include "stage/confined/confined.h"

/* The keeper's main function, called right after its fork; never returns. control: the keeper's end of the socket over which job
 * requests come. */
_Noreturn void confined_keep(const rkb_pipeline_t *pipeline, const rkb_confined_work_t *work, int control);

#endif
