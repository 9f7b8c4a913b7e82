/* A plugin that needs a draft that has changed. */
#include "plugin/bad_objects/common.h"
static const rkb_stage_t BAD = {STAGE_HEAD("needs_old_draft"), .create = good_create, .run = good_run,
                                .destroy = good_destroy,
                                .needs = (const char *const[]){"rkb.draft.asynchronous/99", NULL}};
EXPORT(BAD);
