/* A plain interpreter of PTX, with which the machine is compared: it executes one thread at a time, by a
 * switch for each instruction, with the checks of the machine's level "bounds, definedness, races" and no
 * others.  Knows the instructions of the benchmark's kernels alone.  One thread. */
#ifndef RKB_BENCH_SCALAR_MACHINE_H
#define RKB_BENCH_SCALAR_MACHINE_H

#include "machine/machine_harness.h"

typedef struct scalar scalar_t;

/* Opens the first launch of a harness.  Returns NULL with a message when an instruction is not known or
 * memory runs out. */
scalar_t *scalar_open(const harness_t *harness, char *message, size_t size);
void scalar_close(scalar_t *scalar);
/* Executes the launch on the harness's buffers.  Returns the thread-instructions executed; *found says what is wrong, or is "". */
uint64_t scalar_run(scalar_t *scalar, const char **found);

#endif
