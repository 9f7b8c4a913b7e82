/* Finds candidates whose build equals an earlier one's, in the order of their numbers.  Loop thread. */
#ifndef RKB_RUN_DUPLICATE_BUILDS_H
#define RKB_RUN_DUPLICATE_BUILDS_H

#include <stdbool.h>

struct rkb_run;

/* Compares the next candidate's build, if it is known or will never be made, and lets its stages go on; true when it did
 * something. */
bool rkb_duplicate_builds_next(struct rkb_run *run);

#endif
