/* Memory that a run leaves to later runs of the same plan (kept_memory.c; machine.h has what callers see). */
#ifndef RKB_MACHINE_MEMORY_KEPT_MEMORY_H
#define RKB_MACHINE_MEMORY_KEPT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"

/* Zeros that an earlier run left; NULL: it left none of so many bytes.  kept: NULL is accepted. */
uint8_t *machine_kept_take(rkb_machine_kept_t *kept, uint64_t bytes);
/* Keeps memory of rkb_machine_sparse that holds zeros alone; false: there is no room, and it stays the caller's. */
bool machine_kept_give(rkb_machine_kept_t *kept, uint8_t *memory, uint64_t bytes);

#endif
