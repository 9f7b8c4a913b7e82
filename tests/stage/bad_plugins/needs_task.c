/* A plugin that needs a task, and the pipeline has none. */
#include "plugin/bad_objects/common.h"
#include <rkb/ext/random.h>
#include <rkb/ext/task.h>
static const rkb_stage_t BAD = {STAGE_HEAD("needs_task"), .create = good_create, .run = good_run,
                                .destroy = good_destroy,
                                .needs = (const char *const[]){RKB_EXT_RANDOM, RKB_EXT_TASK, NULL}};
EXPORT(BAD);
