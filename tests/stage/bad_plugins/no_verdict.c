/* A plugin that breaks one rule: no verdict. */
#include "plugin/bad_objects/common.h"
static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   (void)self;
   (void)job;
   (void)in;
   (void)err;
   return RKB_OK;
}
static const rkb_stage_t BAD = {STAGE_HEAD("no_verdict"), .create = good_create, .run = run,
                                .destroy = good_destroy};
EXPORT(BAD);
