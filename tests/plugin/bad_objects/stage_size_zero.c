/* A plugin that breaks one rule: a stage with no size. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_SIZED("stage_size_zero", 0), .create = good_create, .run = good_run,
                                .destroy = good_destroy};
EXPORT(BAD);
