/* What the two stages of the plugin (machine_verifier.c, counting_stage.c) have in common: opening the candidate of a job, and closing it. */
#ifndef MACHINE_JUDGED_CANDIDATE_H
#define MACHINE_JUDGED_CANDIDATE_H

#include "verifier.h"

struct verifier verifier_of(const rkb_host_t *host, const struct verifier_config *config);

/* Reads the build, the manifest and the PTX of the job's candidate, and draws what all its executions have.  build NULL: an early one failed, which
 * the build step will explain.  Close it also after a failure. */
int judged_candidate_open(const struct verifier *verifier, rkb_job_t job, const rkb_item_t *in,
                          struct candidate *candidate, rkb_error_t *err);
void judged_candidate_close(const struct verifier *verifier, struct candidate *candidate);

#endif
