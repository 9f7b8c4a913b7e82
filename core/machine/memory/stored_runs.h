/* Which bytes each block of a sample stored (stored_runs.c).  Owned by a run; on the machine's thread. */
#ifndef RKB_MACHINE_MEMORY_STORED_RUNS_H
#define RKB_MACHINE_MEMORY_STORED_RUNS_H

#include "machine/memory/stored_bytes.h"

/* After a block, with options.stored_runs: what it stored, by buffer and offset.  False: no memory. */
bool machine_stored_runs_keep(machine_run_t *run, const struct machine_stored_bytes *sorted, uint32_t count);
/* Call it before a launch whose blocks have so many places, and at the end of a run. */
bool machine_stored_runs_begin(machine_run_t *run, uint32_t launch, uint32_t places);
void machine_stored_runs_free(machine_run_t *run);

#endif
