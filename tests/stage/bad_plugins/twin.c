/* A plugin that breaks one rule: twin. */
#include "common.h"
/* The same stage id as fails_create. */
static const rkb_stage_t BAD = {STAGE_HEAD("fails_create"), .create = good_create, .run = good_run,
                                .destroy = good_destroy};
EXPORT(BAD);
