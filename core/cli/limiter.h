/* Reads the detail of a measured or predicted time: what limits the candidate. */
#ifndef RKB_CLI_LIMITER_H
#define RKB_CLI_LIMITER_H

#include <jansson.h>
#include <stdbool.h>
#include "archive/archive.h"

/* From a measurement's detail, finds what limits the launch that takes longest ("global memory, 70 % of its time at peak") and that
 * launch's kernel.  False when the detail does not say. */
bool rkb_limiter_of(const char *detail, char *kernel, size_t kernel_size, char *sentence,
                    size_t sentence_size);
/* The same for the slowest case among the candidate's measurements of that name. */
bool rkb_limiter_of_candidate(const rkb_candidate_record_t *candidate, const char *name, char *sentence,
                              size_t size);

#endif
