/* A tune assignment as one choice of each parameter of a manifest, and the space of all of them.  Pure; any
 * thread. */
#ifndef MUTATOR_ASSIGNMENT_H
#define MUTATOR_ASSIGNMENT_H

#include <rkb/ext/kernel.h>

enum { ASSIGNMENT_MAX = 64 }; /* limit of parameters */

typedef struct assignment {
   uint32_t count;
   uint32_t choice[ASSIGNMENT_MAX]; /* index into the parameter's choices */
} assignment_t;

/* Reads a candidate's tune object (NULL: all defaults); names that are left out take their default.
 * RKB_ERR_INVALID for a name or value that the manifest does not list, RKB_ERR_LIMIT for too many parameters. */
int assignment_read(const rkb_manifest_t *manifest, const char *tune_json, assignment_t *assignment,
                    rkb_error_t *err);
/* The JSON object with every name, in the manifest's order; malloc'd, NULL when memory is out. */
char *assignment_write(const rkb_manifest_t *manifest, const assignment_t *assignment);
/* The same from a value for each parameter of the manifest, be it a choice or not. */
char *assignment_write_values(const rkb_manifest_t *manifest, const int64_t *values);
void assignment_values(const rkb_manifest_t *manifest, const assignment_t *assignment, int64_t *values);

bool assignment_equal(const assignment_t *left, const assignment_t *right);
int64_t assignment_value(const rkb_manifest_t *manifest, const assignment_t *assignment, uint32_t parameter);

/* "BLOCK 256 -> 128, VEC 4 -> 2" from two values for each parameter; "" when nothing differs. */
void assignment_difference(const rkb_manifest_t *manifest, const int64_t *from, const int64_t *to, char *out,
                           size_t size);

/* The number of assignments; UINT64_MAX when there are more. */
uint64_t assignment_space(const rkb_manifest_t *manifest);
/* Assignment number index of the space, the last parameter changing fastest.  False past the end. */
bool assignment_at(const rkb_manifest_t *manifest, uint64_t index, assignment_t *assignment);

/* The choices whose values are nearest below and above the current one; each -1 when there is none. */
void assignment_neighbours(const rkb_manifest_t *manifest, const assignment_t *assignment, uint32_t parameter,
                           int32_t *below, int32_t *above);

#endif
