/* A plugin that breaks one rule: fails start. */
#include "plugin/bad_objects/common.h"
static int start(void *self, rkb_error_t *err) {
   (void)self;
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the device does not answer");
}
ASYNCHRONOUS("fails_start", .start = start, .submit = good_run);
EXPORT(BAD);
