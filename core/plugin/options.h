/* Turns a YAML mapping into a stage's config struct, by the stage's option table.  Loop thread. */
#ifndef RKB_PLUGIN_OPTIONS_H
#define RKB_PLUGIN_OPTIONS_H

#include "base/yaml.h"

#define RKB_MAX_PROMPT_BYTES (1u << 20)
#define RKB_MAX_TABLE_ROWS 1024

typedef struct rkb_options_context {
   rkb_arena_t *arena;       /* config, texts: they live as long as it does */
   const rkb_yaml_t *models; /* the pipeline's "models:", or NULL */
   bool *models_used;        /* one for each of models, set where an option names it; or NULL */
   const char *stage;        /* whose options these are, for messages */
   /* Called for whatever the values alone do not show, to become part of the pipeline's hash: a prompt's text. */
   void (*depends)(void *argument, const char *hash);
   void *argument;
} rkb_options_context_t;

/* Bytes that an option's value takes in the config struct. */
size_t rkb_option_bytes(const rkb_option_t *option);

/* Checks given (a mapping, or NULL for none) against the table and writes all values, defaults included, into config
 * (zeroed, config_size bytes).  Relative paths are taken against the file they stand in, and replaced in the tree by
 * absolute ones.  All problems are added; true when there was no error. */
bool rkb_options_read(const rkb_options_context_t *context, const rkb_option_t *options, uint32_t count,
                      rkb_yaml_t *given, rkb_place_t place, void *config, rkb_problems_t *problems);

#endif
