/* A plugin that breaks one rule: fails start. */
#include "common.h"
static int start(void *self, rkb_error_t *err) {
   (void)self;
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the device does not answer");
}
static const rkb_stage_t BAD = {STAGE_HEAD("fails_start"), .create = good_create, .start = start,
                                .run = good_run, .destroy = good_destroy};
EXPORT(BAD);
