/* What a model or a clock said of a candidate, with what limits it. */
#ifndef RKB_CLI_PREDICTION_H
#define RKB_CLI_PREDICTION_H

#include <jansson.h>
#include <stdbool.h>
#include "archive/archive.h"

/* The sentence on what limits the launch that takes longest, from a measurement's detail ("global memory, 70 % of its time at
 * peak"), and its kernel as written; false when the detail holds none. */
bool rkb_limiter_of(const char *detail, char *kernel, size_t kernel_size, char *sentence,
                    size_t sentence_size);
/* The same of the case that took longest among the candidate's measurements of that name. */
bool rkb_limiter_of_candidate(const rkb_candidate_record_t *candidate, const char *name, char *sentence,
                              size_t size);

#endif
