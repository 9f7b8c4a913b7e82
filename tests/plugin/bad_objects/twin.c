/* A plugin that breaks one rule: twin. */
#include "common.h"
/* The same stage id as first_twin. */
static const rkb_stage_t BAD = {STAGE_HEAD("twin"), .create = good_create, .run = good_run,
                                .destroy = good_destroy};
EXPORT(BAD);
