/* Texts that differ in nothing but the choices of their tune parameters: a value means the same in each of them.  Pure; any thread. */
#ifndef TUNE_SAME_TEXT_FAMILY_H
#define TUNE_SAME_TEXT_FAMILY_H

#include <rkb/ext/kernel.h>
#include "shared/assignment.h"

/* Whether `other` is `text`, whose manifest this is, but for lists of choices. */
bool family_has(const rkb_manifest_t *manifest, const char *text, const char *other);

/* Reads a candidate's tune object, whose values need not be choices of this manifest; a name that is left out has its default.  False: it is
 * no object, or it has a name that the manifest lacks. */
bool family_values(const rkb_manifest_t *manifest, const char *tune_json, int64_t values[ASSIGNMENT_MAX]);

/* The text with every value among the choices of its parameter; malloc'd.  NULL: a list of choices was not found, or memory is out. */
char *family_text(const rkb_manifest_t *manifest, const char *text, const int64_t values[ASSIGNMENT_MAX]);

bool family_is_choice(const rkb_tune_parameter_t *parameter, int64_t value);

#endif
