/* Stages' options in words, from the tables that check them: for rkb help and for docs/options.md. */
#ifndef RKB_CLI_OPTION_REFERENCE_H
#define RKB_CLI_OPTION_REFERENCE_H

#include "pipeline/pipeline.h"

/* size: the stride that the plugin was compiled with, which may be larger than ours. */
void rkb_print_options(const rkb_option_t *options, uint32_t count, uint32_t size);
/* Every stage and strategy of the registry, by kind and id, as Markdown; returns enum rkb_exit. */
int rkb_print_option_reference(const rkb_registry_t *registry);

#endif
