/* The core's own step between screening stages: a candidate's text becomes manifest, assignment, build and a plan for
 * every listed case.  Recorded under the reserved id "build". */
#ifndef RKB_RUN_BUILD_STEP_H
#define RKB_RUN_BUILD_STEP_H

#include "stage/candidate.h"

/* Works on a worker; done is called on the loop, with the candidate's result under "build", its build and its hashes
 * filled in.  Not called when the run is ending before it began. */
void rkb_build_step_start(rkb_runtime_t *runtime, rkb_candidate_t *candidate,
                          void (*done)(void *argument, rkb_candidate_t *candidate), void *argument);
/* Fetches the build again of a candidate whose result is known already (a resumed run); built_again is set then, and build
 * too unless it could not be made. */
void rkb_build_step_again(rkb_runtime_t *runtime, rkb_candidate_t *candidate,
                          void (*done)(void *argument, rkb_candidate_t *candidate), void *argument);

#endif
