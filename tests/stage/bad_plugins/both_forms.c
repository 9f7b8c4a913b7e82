/* A plugin that breaks one rule: both forms. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("both_forms"), .create = good_create, .run = good_run,
                                .submit = good_run, .destroy = good_destroy};
EXPORT(BAD);
