/* A plugin that breaks one rule: wrong magic. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("wrong_magic"), .create = good_create, .run = good_run,
                                .destroy = good_destroy};
static const rkb_stage_t *const STAGES[] = {&BAD, NULL};
RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   0x12345678u, RKB_ABI_MAJOR, RKB_ABI_MINOR, sizeof(rkb_plugin_t), 0, "bad", "1", STAGES, NULL};
