/* A plugin that breaks one rule: missing symbol. */
#include "common.h"
int nobody_defines_this(void);
static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   return nobody_defines_this() + good_run(self, job, in, err);
}
static const rkb_stage_t BAD = {STAGE_HEAD("missing_symbol"), .create = good_create, .run = run,
                                .destroy = good_destroy};
EXPORT(BAD);
