/* The structure of a kernel's text, as a set of hashes of runs of its code tokens; novelty.h says what counts.
 *
 * Owns its hashes.  Pure; any thread. */
#ifndef PLUGIN_ASKING_KERNEL_STRUCTURE_H
#define PLUGIN_ASKING_KERNEL_STRUCTURE_H

#include <rkb/ext/kernel.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct kernel_structure {
   uint64_t *hashes; /* of runs of tokens, sorted, each once */
   uint32_t count;
} kernel_structure_t;

/* False when memory runs out.  Release structure->hashes with free in either case. */
bool kernel_structure_read(const rkb_kernel_api_t *kernel, const char *text, kernel_structure_t *structure);
/* The number of runs that both have, divided by the number that either has: 0 to 1. */
double kernel_structure_likeness(const kernel_structure_t *one, const kernel_structure_t *other);

#endif
