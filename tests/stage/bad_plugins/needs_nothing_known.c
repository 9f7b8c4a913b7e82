/* A plugin that needs an extension that there is not. */
#include "plugin/bad_objects/common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("needs_nothing_known"), .create = good_create, .run = good_run,
                                .destroy = good_destroy,
                                .needs = (const char *const[]){"rkb.nothing/1", NULL}};
EXPORT(BAD);
