/* Hands the program a structure that is longer than the program knows, as newer headers would have it. */
#include "plugin/bad_objects/common.h"

static int submit(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = ((const stage_t *)self)->host;
   int status = good_run(self, job, in, err);
   asynchronous(host)->job_complete(host, job, status, err);
   return RKB_OK;
}

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   static const struct {
      rkb_asynchronous_stage_t known;
      const void *newer[8];
   } stage = {.known = {.size = sizeof stage, .submit = submit}, .newer = {"of a later draft"}};
   (void)config;
   return serve_with(host, &stage.known, self, err);
}

static const rkb_stage_t LONG = {STAGE_HEAD("long_argument"), .create = create, .run = good_run,
                                 .destroy = good_destroy};
EXPORT(LONG);
