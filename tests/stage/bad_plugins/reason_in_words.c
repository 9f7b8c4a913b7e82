/* A plugin that breaks one rule: its reason is a phrase, not a code. */
#include "plugin/bad_objects/common.h"
static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   (void)in;
   (void)err;
   return rkb_emit_verdict(((const stage_t *)self)->host, job, RKB_SUSPECT, "occupancy low", "few warps fit");
}
static const rkb_stage_t BAD = {STAGE_HEAD("reason_in_words"), .create = good_create, .run = run,
                                .destroy = good_destroy};
EXPORT(BAD);
