/* The core's own step between screening stages: a candidate's text becomes manifest, assignment, build and a plan for
 * every check case.  Recorded under the reserved id "build". */
#ifndef RKB_ENGINE_BUILD_STEP_H
#define RKB_ENGINE_BUILD_STEP_H

#include <rkb/ext/kernel.h>

extern const char *const RKB_BUILD_MEASURES[]; /* NULL-terminated */

#endif
