/* A plugin that breaks one rule: serves twice. */
#include "plugin/bad_objects/common.h"
static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   static const rkb_asynchronous_stage_t stage = {.size = sizeof stage, .submit = good_run};
   (void)config;
   int status = asynchronous(host)->serve(host, &stage, err);
   return status == RKB_OK ? serve_with(host, &stage, self, err) : status;
}
static const rkb_stage_t BAD = {STAGE_HEAD("serves_twice"), .create = create, .run = good_run,
                                .destroy = good_destroy};
EXPORT(BAD);
