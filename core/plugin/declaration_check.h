/* What the registry's two halves share: registry.c finds and loads objects, declaration_check.c reads what they declare. */
#ifndef RKB_PLUGIN_DECLARATION_CHECK_H
#define RKB_PLUGIN_DECLARATION_CHECK_H

#include "plugin/registry.h"

/* Whether this object keeps the declared part of the contract: magic, ABI, sizes, ids, tables.  On false err->message is
 * one sentence for the plugin's author. */
bool rkb_plugin_check(const rkb_plugin_t *plugin, rkb_error_t *err);

#endif
