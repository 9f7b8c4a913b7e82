/* A plugin that breaks one rule: an entry too small for its lists. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("entry_size"), .create = good_create, .run = good_run,
                                .destroy = good_destroy};
static const rkb_stage_t *const STAGES[] = {&BAD, NULL};
RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_MAGIC, RKB_ABI_MAJOR, RKB_ABI_MINOR, 16, 0, "bad", "1", STAGES, NULL};
