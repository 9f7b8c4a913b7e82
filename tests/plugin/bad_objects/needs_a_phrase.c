/* A plugin that needs something that is no name. */
#include "common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("needs_a_phrase"), .create = good_create, .run = good_run,
                                .destroy = good_destroy,
                                .needs = (const char *const[]){"A task, please", NULL}};
EXPORT(BAD);
