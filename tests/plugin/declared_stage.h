/* A plugin that is declared in a case file instead of in C: a stage or a strategy with its option table.  Everything lives in the arena; one thread. */
#ifndef RKB_TESTS_PLUGIN_DECLARED_STAGE_H
#define RKB_TESTS_PLUGIN_DECLARED_STAGE_H

#include <rkb/plugin.h>
#include "base/yaml.h"

typedef struct declared {
   const rkb_plugin_t *plugin;
   const char *id;
   const rkb_option_t *options;
   uint32_t option_count;
   size_t config_size;
} declared_t;

/* From the keys "stage" or "strategy" and "options" of the case.  What "stage" leaves out is as in a verifier that keeps every rule; its functions are
 * there, but for the one that "without" names, and none is ever called.  False where a key or a word is none of a case's: *wrong receives it. */
bool declare(rkb_arena_t *arena, const rkb_yaml_t *file, declared_t *out, const char **wrong);

#endif
