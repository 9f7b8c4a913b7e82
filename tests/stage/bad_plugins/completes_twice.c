/* A plugin that breaks one rule: completes twice. */
#include "plugin/bad_objects/common.h"
static int submit(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = ((const stage_t *)self)->host;
   good_run(self, job, in, err);
   asynchronous(host)->job_complete(host, job, RKB_OK, NULL);
   asynchronous(host)->job_complete(host, job, RKB_OK, NULL);
   return RKB_OK;
}
ASYNCHRONOUS("completes_twice", .submit = submit);
EXPORT(BAD);
