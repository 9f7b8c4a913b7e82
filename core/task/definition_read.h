/* What the parts of the task.yaml reader share.  All report what is wrong, at its place; one thread. */
#ifndef RKB_TASK_DEFINITION_READ_H
#define RKB_TASK_DEFINITION_READ_H

#include "task/definition.h"

/* Room in the definition's arena for count and one more, cleared; never NULL. */
void *rkb_read_array(rkb_definition_t *definition, uint32_t count, size_t size);
/* A copy in the arena. */
const char *rkb_read_kept(rkb_definition_t *definition, const char *text);
/* A key that expressions can mention; what names its noun. */
const char *rkb_read_name(rkb_definition_t *definition, const rkb_yaml_t *key, const char *what,
                          rkb_problems_t *problems);
/* The text under a key; *out is "" where it is absent and need not be there. */
bool rkb_read_text(rkb_definition_t *definition, const rkb_yaml_t *map, const char *key, bool required,
                   const char **out, rkb_problems_t *problems);
/* A number rounded to float32, which is what a kernel receives. */
bool rkb_read_float(const rkb_yaml_t *node, const char *what, double *value, rkb_problems_t *problems);

/* Sections of the file; node or root's key may be absent where the section may be. */
void rkb_read_tensors(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems);
void rkb_read_settings(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems);
void rkb_read_wants_grad(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems);
void rkb_read_saves(rkb_definition_t *definition, const rkb_yaml_t *node, rkb_problems_t *problems);
void rkb_read_cases(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems);

#endif
