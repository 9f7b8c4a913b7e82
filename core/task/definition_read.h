/* Functions that all parts of the task.yaml reader share (definition_parts.c), and the parts themselves.  All
 * report mistakes at their places; one thread. */
#ifndef RKB_TASK_DEFINITION_READ_H
#define RKB_TASK_DEFINITION_READ_H

#include "task/definition.h"

/* Allocates a cleared array of count + 1 entries in the definition's arena; never NULL. */
void *rkb_read_array(rkb_definition_t *definition, uint32_t count, size_t size);
/* A copy in the arena. */
const char *rkb_read_kept(rkb_definition_t *definition, const char *text);
/* Reads a key that expressions can mention.  `what` says in messages what kind of thing the key names. */
bool rkb_read_is_name(const char *name); /* whether expressions can mention it */
const char *rkb_read_name(rkb_definition_t *definition, const rkb_yaml_t *key, const char *what,
                          rkb_problems_t *problems);
/* Reads the text under a key.  When the key is absent and not required, *out is "". */
bool rkb_read_text(rkb_definition_t *definition, const rkb_yaml_t *map, const char *key, bool required,
                   const char **out, rkb_problems_t *problems);
/* Reads a number and rounds it to float32, because that is what a kernel receives. */
bool rkb_read_float(const rkb_yaml_t *node, const char *what, double *value, rkb_problems_t *problems);

/* Read the sections of the file.  Where a section is optional, node or the root's key may be absent. */
void rkb_read_tensors(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems);
void rkb_read_settings(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems);
void rkb_read_wants_grad(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems);
void rkb_read_saves(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems);
void rkb_read_cases(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems);

#endif
