/* How many processors this process may use. */
#ifndef RKB_SYSTEM_PROCESSORS_H
#define RKB_SYSTEM_PROCESSORS_H

#include <stdint.h>

/* Returns how many processors taskset, a batch system or a container's set of processors leaves to this process; at least 1. */
uint32_t rkb_processors(void);

#endif
