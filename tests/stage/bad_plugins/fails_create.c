/* A plugin that breaks one rule: fails create. */
#include "plugin/bad_objects/common.h"
static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)host;
   (void)config;
   (void)self;
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "there is no such device");
}
static const rkb_stage_t BAD = {STAGE_HEAD("fails_create"), .create = create, .run = good_run,
                                .destroy = good_destroy};
EXPORT(BAD);
