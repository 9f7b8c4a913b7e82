/* A plugin that breaks one rule: completes late. */
#include "plugin/bad_objects/common.h"
/* Completes each job once properly, and again from a later turn of the loop. */
typedef struct late {
   const rkb_host_t *host;
   rkb_job_t job;
   int turns;
} late_t;
static void again(void *argument) {
   late_t *late = argument;
   if (late->turns--) {
      asynchronous(late->host)->post(late->host, again, late);
      return;
   }
   asynchronous(late->host)->job_complete(late->host, late->job, RKB_OK, NULL);
   free(late);
}
static int submit(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = ((const stage_t *)self)->host;
   late_t *late = malloc(sizeof *late);
   if (!late)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *late = (late_t){.host = host, .job = job, .turns = 3};
   good_run(self, job, in, err);
   asynchronous(host)->job_complete(host, job, RKB_OK, NULL);
   asynchronous(host)->post(host, again, late);
   return RKB_OK;
}
ASYNCHRONOUS("completes_late", .submit = submit);
EXPORT(BAD);
