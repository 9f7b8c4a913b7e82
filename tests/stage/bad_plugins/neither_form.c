/* A plugin that breaks one rule: neither form. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("neither_form"), .create = good_create, .destroy = good_destroy};
EXPORT(BAD);
