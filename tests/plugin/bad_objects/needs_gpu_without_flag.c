/* A plugin that needs a GPU without declaring it in its flags. */
#include "common.h"
#include <rkb/ext/device.h>
static const rkb_stage_t BAD = {STAGE_HEAD("needs_gpu_without_flag"), .create = good_create, .run = good_run,
                                .destroy = good_destroy,
                                .needs = (const char *const[]){RKB_EXT_DEVICE, NULL}};
EXPORT(BAD);
