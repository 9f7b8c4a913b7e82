/* A plugin that breaks one rule: completes twice. */
#include "common.h"
static int submit(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = ((const stage_t *)self)->host;
   good_run(self, job, in, err);
   host->job_complete(host, job, RKB_OK, NULL);
   host->job_complete(host, job, RKB_OK, NULL);
   return RKB_OK;
}
static const rkb_stage_t BAD = {STAGE_HEAD("completes_twice"), .create = good_create, .submit = submit,
                                .destroy = good_destroy};
EXPORT(BAD);
