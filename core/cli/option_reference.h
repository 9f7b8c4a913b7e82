/* Describes stages' options, from the tables that check them, for rkb help and docs/options.md. */
#ifndef RKB_CLI_OPTION_REFERENCE_H
#define RKB_CLI_OPTION_REFERENCE_H

#include "pipeline/pipeline.h"

/* size: the size of a table row in the plugin, which may be larger than in this program. */
void rkb_print_options(const rkb_option_t *options, uint32_t count, uint32_t size);
/* Writes every stage and strategy of the registry, by kind and id, as Markdown; returns enum rkb_exit. */
int rkb_print_option_reference(const rkb_registry_t *registry);

#endif
