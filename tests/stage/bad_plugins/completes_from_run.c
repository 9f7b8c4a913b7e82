/* A plugin that breaks one rule: completes from run. */
#include "plugin/bad_objects/common.h"
static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = ((const stage_t *)self)->host;
   asynchronous(host)->job_complete(host, job, RKB_ERR_INTERNAL, NULL);
   return good_run(self, job, in, err);
}
static const rkb_stage_t BAD = {STAGE_HEAD("completes_from_run"), .create = good_create, .run = run,
                                .destroy = good_destroy};
EXPORT(BAD);
