/* A plugin that breaks one rule: the major before this one. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("older_abi"), .create = good_create, .run = good_run,
                                .destroy = good_destroy};
static const rkb_stage_t *const STAGES[] = {&BAD, NULL};
RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_MAGIC, RKB_ABI_MAJOR - 1, 1, sizeof(rkb_plugin_t), 0, "bad", "1", STAGES, NULL};
