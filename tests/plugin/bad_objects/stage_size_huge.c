/* A plugin that breaks one rule: a stage with a size that was never set. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_SIZED("stage_size_huge", 0x40000000u), .create = good_create,
                                .run = good_run, .destroy = good_destroy};
EXPORT(BAD);
