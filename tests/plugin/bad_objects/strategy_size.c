/* A plugin that breaks one rule: a strategy with no size. */
#include "common.h"
#include <rkb/strategy.h>
static const rkb_strategy_t BAD = {.id = "bad.strategy.strategy_size", .summary = "Breaks one rule."};
RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "bad", .version = "1",
                                                  .strategies = (const rkb_strategy_t *const[]){&BAD, NULL}};
