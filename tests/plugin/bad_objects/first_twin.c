/* A plugin that keeps every rule, as long as nobody loads twin beside it. */
#include "common.h"
static const rkb_stage_t GOOD = {STAGE_HEAD("twin"), .create = good_create, .run = good_run,
                                 .destroy = good_destroy};
EXPORT(GOOD);
