/* A plugin that breaks one rule: two verdicts. */
#include "plugin/bad_objects/common.h"
static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   good_run(self, job, in, err);
   return good_run(self, job, in, err);
}
static const rkb_stage_t BAD = {STAGE_HEAD("two_verdicts"), .create = good_create, .run = run,
                                .destroy = good_destroy};
EXPORT(BAD);
