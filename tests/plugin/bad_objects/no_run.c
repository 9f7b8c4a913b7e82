/* A plugin that breaks one rule: no run. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("no_run"), .create = good_create, .destroy = good_destroy};
EXPORT(BAD);
