/* A plugin that breaks one rule: a structure without its size. */
#include "plugin/bad_objects/common.h"
static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   static const rkb_asynchronous_stage_t stage = {.submit = good_run};
   (void)config;
   return serve_with(host, &stage, self, err);
}
static const rkb_stage_t BAD = {STAGE_HEAD("serves_unsized"), .create = create, .run = good_run,
                                .destroy = good_destroy};
EXPORT(BAD);
