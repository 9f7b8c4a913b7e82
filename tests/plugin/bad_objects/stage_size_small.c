/* A plugin that breaks one rule: a stage with a size without destroy. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_SIZED("stage_size_small", offsetof(rkb_stage_t, destroy)),
                                .create = good_create, .run = good_run, .destroy = good_destroy};
EXPORT(BAD);
