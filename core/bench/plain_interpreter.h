/* A plain interpreter of PTX, with which the checking machine is compared.  It executes one thread at a time, by a switch over instructions, with the
 * checks of the machine's level "bounds, definedness, races".  It knows only the instructions of the benchmark's kernels.  One thread. */
#ifndef RKB_BENCH_PLAIN_INTERPRETER_H
#define RKB_BENCH_PLAIN_INTERPRETER_H

#include "machine/machine_harness.h"

typedef struct plain_interpreter plain_interpreter_t;

/* Opens the first launch of a harness.  Returns NULL with a message when an instruction is not known or
 * memory runs out. */
plain_interpreter_t *plain_interpreter_open(const harness_t *harness, char *message, size_t size);
void plain_interpreter_close(plain_interpreter_t *plain);
/* Executes the launch on the harness's buffers.  Returns the thread-instructions executed; *found says what is wrong, or is "". */
uint64_t plain_interpreter_run(plain_interpreter_t *plain, const char **found);

#endif
