/* A plugin that breaks one rule: never completes. */
#include "plugin/bad_objects/common.h"
static int submit(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   (void)self;
   (void)job;
   (void)in;
   (void)err;
   return RKB_OK;
}
ASYNCHRONOUS("never_completes", .submit = submit);
EXPORT(BAD);
