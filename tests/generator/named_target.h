/* The target of a device profile. */
#ifndef RKB_TESTS_GENERATOR_NAMED_TARGET_H
#define RKB_TESTS_GENERATOR_NAMED_TARGET_H

#include <stdbool.h>
#include "generator/graph/target.h"

/* name: a shipped profile's, or a file.  False: there is no such profile, and target stays as it is. */
bool named_target(const char *name, const char *precision, rkb_target_t *target);

#endif
